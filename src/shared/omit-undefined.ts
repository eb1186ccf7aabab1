/** Returns a copy without fields that are `undefined`. */
export function omitUndefined<T extends object> (fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const present: Partial<T> = {}
  for (const name in fields) if (fields[name] !== undefined) present[name] = fields[name]
  return present as { [K in keyof T]?: Exclude<T[K], undefined> }
}

/** A filter without the fields that are not given, for ports whose optional fields are absent rather than undefined. */
export function given<T extends object> (filter: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const present: Partial<T> = {}
  for (const name in filter) if (filter[name] !== undefined) present[name] = filter[name]
  return present as { [K in keyof T]?: Exclude<T[K], undefined> }
}

/** Returns a property of any value; `undefined` if it is missing or reading it throws, as a getter or proxy may. */
export function readField (value: unknown, name: string | symbol): unknown {
  if (!isObject(value)) return undefined
  try {
    return Reflect.get(value, name)
  } catch {
    return undefined
  }
}

export function isObject (value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

/** Returns a copy without fields that are `undefined`. */
export function omitUndefined<T extends object> (fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const present: Partial<T> = {}
  for (const name in fields) if (fields[name] !== undefined) present[name] = fields[name]
  return present as { [K in keyof T]?: Exclude<T[K], undefined> }
}

/** Formats the steps to a value in JSON as clients read them: `event_types[0]`. Empty for the whole value. */
export function formatFieldPath (steps: readonly string[]): string {
  return steps.reduce(
    (path, step) => (/^\d+$/.test(step) ? `${path}[${step}]` : path === '' ? step : `${path}.${step}`),
    ''
  )
}

/** Stores on a converted transaction the handle of the library that it was made from. */
export const kHandle = Symbol.for('fastify-recruiting-api.handle')

/**
 * Returns the library's own handle of a transaction that a function such as `fromKnex` has converted, or else the
 * transaction.
 */
export function handleOf (transaction: unknown): unknown {
  return readField(transaction, kHandle) ?? transaction
}

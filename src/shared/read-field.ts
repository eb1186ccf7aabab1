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

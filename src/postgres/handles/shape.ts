import type { PgQueryable } from '../pool.js'

/** Reads a property of anything at all. Getters and proxies that throw count as absent. */
export function read (value: unknown, name: string): unknown {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return undefined
  try {
    return Reflect.get(value, name)
  } catch {
    return undefined
  }
}

/** Whether a value has all of these methods. */
export function hasMethods (value: unknown, ...names: string[]): boolean {
  return names.every((name) => typeof read(value, name) === 'function')
}

/** Whether a value can run a statement, as a client of `pg` does. */
export function isQueryable (value: unknown): value is PgQueryable {
  return hasMethods(value, 'query')
}

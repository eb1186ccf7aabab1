import type { EventFilters, FilterValue } from '../ports/index.js'

/** Returns a property of any value; `undefined` if it is missing, or if a getter or proxy throws. */
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

/** Returns an object with the same names, and with changed values. */
export function mapValues<Value, Changed> (
  values: Readonly<Record<string, Value>>, change: (value: Value, name: string) => Changed
): Record<string, Changed> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]))
}

/** Formats the path to a JSON value for clients, such as `event_types[0]`; '' for the whole value. */
export function formatFieldPath (steps: readonly string[]): string {
  return steps.reduce(
    (path, step) => (/^\d+$/.test(step) ? `${path}[${step}]` : path === '' ? step : `${path}.${step}`), ''
  )
}

/** The property of a converted transaction that contains its library's own handle. */
export const kHandle = Symbol.for('fastify-recruiting-api.handle')

/**
 * Returns the library's own handle if a function such as `fromKnex` converted the transaction, otherwise the
 * transaction. A mock may have a value for every name, so only an own property counts.
 */
export function handleOf (transaction: object): unknown {
  return Object.hasOwn(transaction, kHandle) ? readField(transaction, kHandle) : transaction
}

/**
 * Returns a function that checks whether an event's body, as JSON text, matches a webhook's filters and `changed`;
 * `null` means none. It parses the body once, and only if a webhook has some. For storages that filter in JavaScript.
 */
export function createFilterTest (
  body: string
): (filters: EventFilters | null, changed?: readonly string[] | null) => boolean {
  let parsed: { event: unknown } | null = null
  return (filters, changed = null) => {
    if (filters === null && changed === null) return true
    const { event } = parsed ??= { event: parseBody(body) }
    return findMismatch(event, filters, changed) === undefined
  }
}

/**
 * Returns the first path whose value in the event is none of the filter's, with both; `undefined` if all match. The
 * path of the names in `changed` is `changed`.
 */
export function findMismatch (
  event: unknown, filters: EventFilters | null, changed: readonly string[] | null
): { path: string, expected: FilterValue[], found: unknown } | undefined {
  for (const [path, expected] of Object.entries(filters ?? {})) {
    const found = path.split('.').reduce(readMember, event)
    if (!expected.some((value) => value === (found ?? null))) return { path, expected, found }
  }
  const found = readMember(event, 'changed')
  const isChanged = changed === null || (Array.isArray(found) && found.some((name) => changed.includes(name)))
  return isChanged ? undefined : { path: 'changed', expected: [...changed], found }
}

/** Returns `null` for text that is not JSON, such as the empty body of an erased event. */
export function parseBody (body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}

function readMember (value: unknown, name: string): unknown {
  return isObject(value) && !Array.isArray(value) && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined
}

import type { EventFilters } from '../ports/index.js'
import { isObject } from './fields.js'

/**
 * Returns a function that tells whether the body of an event, its JSON text, matches the filters of a webhook; `null`
 * are no filters. It parses the body once, and only for a webhook with filters. For storages that decide in
 * JavaScript.
 */
export function createFilterTest (body: string): (filters: EventFilters | null) => boolean {
  let parsed: { event: unknown } | null = null
  return (filters) => {
    if (filters === null) return true
    const { event } = parsed ??= { event: parseBody(body) }
    return Object.entries(filters).every(([path, values]) => {
      const found = findValue(event, path)
      return values.some((value) => value === found)
    })
  }
}

/** Returns `null` for text that is not JSON, such as the empty body of an erased event. */
function parseBody (body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}

function findValue (event: unknown, path: string): unknown {
  return path.split('.').reduce(readMember, event) ?? null
}

function readMember (value: unknown, name: string): unknown {
  return isObject(value) && !Array.isArray(value) && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined
}

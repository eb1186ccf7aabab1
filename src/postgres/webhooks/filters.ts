import type { EventFilters, FilterValue } from '../../ports/index.js'
import { isStorableText } from '../../shared/text.js'

export function filterColumns (filters: EventFilters | null): [filters: string | null, filterPath: string | null] {
  return filters === null ? [null, null] : [JSON.stringify(filters), formatFilterPath(filters)]
}

/**
 * Formats filters as a predicate of jsonpath, which PostgreSQL checks far faster than a function could read them. In
 * strict mode, names do not lead into arrays, and the result of a path that leads nowhere is unknown.
 */
function formatFilterPath (filters: EventFilters): string {
  return `strict ${Object.entries(filters).map(formatPath).join(' && ')}`
}

function formatPath ([path, values]: [string, FilterValue[]]): string {
  // The escapes of JSON are also those of jsonpath.
  const place = `$${path.split('.').map((name) => `.${JSON.stringify(name)}`).join('')}`
  const equal = `exists(${place} ? (${values.map((value) => `@ == ${JSON.stringify(value)}`).join(' || ')}))`
  return values.includes(null) ? `(${equal} || (exists(${place})) is unknown)` : equal
}

/**
 * Returns the body of an event as `jsonb` takes it; `null` if that is the body. `jsonb` has no text with NUL or half
 * a surrogate pair, which no filter can equal. Here such values are `[]`, and such names `.`, which is no name of a
 * path. Takes time linear in the length of the body, and none of it in the database.
 */
export function formatFilterBody (body: string): string | null {
  if (!/\\u(?:0000|d[89a-f])/i.test(body)) return null
  // Then each quotation mark begins or ends a string.
  const plain = body.replaceAll('\\\\', '\\u005c').replaceAll('\\"', '\\u0022')
  return plain.replaceAll(/("[^"]*")(\s*:)?/g, (all, text: string, colon?: string) => {
    if (!text.includes('\\u') || isStorableText(parseText(text))) return all
    return colon === undefined ? '[]' : `"."${colon}`
  })
}

/** Returns text that cannot be stored for what is not JSON: a storage takes any text as a body. */
function parseText (text: string): string {
  try {
    return JSON.parse(text)
  } catch {
    return '\0'
  }
}

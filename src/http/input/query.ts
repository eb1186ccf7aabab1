import { isStorableText, normalizeInstant } from '../../shared/text.js'
import { badRequest } from '../wire-errors.js'

/**
 * A query without encoded characters. A lenient HTTP parser passes others than visible ASCII, whose encoding is
 * unknown.
 */
const plainQuery = /^[!-$&-*,-~]*$/
const encodedText = /^[!-~]*$/

/**
 * Parses the query in the raw URL and ignores the host's query parser. Throws a 400 for repeated parameters and invalid
 * encoding: silently ignoring them would return wrong data.
 */
export function parseQuery (url: string): Record<string, unknown> {
  const values: Record<string, string> = {}
  const start = url.indexOf('?')
  if (start === -1) return values
  const query = url.slice(start + 1)
  const isPlain = plainQuery.test(query)
  for (const pair of query.split('&')) {
    if (pair === '') continue
    const end = pair.indexOf('=')
    const name = end === -1 ? pair : pair.slice(0, end)
    const value = end === -1 ? '' : pair.slice(end + 1)
    if (isPlain) addValue(values, name, value)
    else addValue(values, decode(name), decode(value))
  }
  return values
}

function addValue (values: Record<string, string>, name: string, value: string): void {
  if (name === '__proto__') throw badRequest({ in: 'query', field: name, message: 'is not known' })
  if (Object.hasOwn(values, name)) throw badRequest({ in: 'query', field: name, message: 'is given more than once' })
  values[name] = value
}

function decode (text: string): string {
  const decoded = encodedText.test(text) ? tryDecode(text.replaceAll('+', ' ')) : null
  if (decoded === null || !isStorableText(decoded)) {
    throw badRequest({ in: 'query', field: '', message: 'holds text that is not percent-encoded UTF-8, or a NUL' })
  }
  return decoded
}

function tryDecode (text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

const maxSearchLength = 200

/** Trims `filter[q]`; blank text counts as absent. Throws a 400 for more than 200 characters. */
export function parseSearch (text: string | undefined): string | undefined {
  const trimmed = text?.trim()
  if (trimmed === undefined || trimmed === '') return undefined
  if ([...trimmed].length > maxSearchLength) {
    throw badRequest({ in: 'query', field: 'filter[q]', message: `must be at most ${maxSearchLength} characters` })
  }
  return trimmed
}

/** Converts `filter[updated_after]` to UTC. Throws a 400 for a date out of range. */
export function parseUpdatedAfter (text: string | undefined): string | undefined {
  return text === undefined ? undefined : parseDateTime('filter[updated_after]', text)
}

/** Converts a date-time to UTC with milliseconds. Throws a 400 for a date out of range. */
export function parseDateTime (field: string, text: string): string {
  const instant = normalizeInstant(text)
  if (instant !== null) return instant
  throw badRequest({
    in: 'query',
    field,
    message: 'must be a date-time of the years 1 to 9999, such as 2030-01-01T00:00:00Z'
  })
}

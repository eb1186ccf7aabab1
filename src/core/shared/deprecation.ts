import { normalizeInstant, parseUrl } from './text.js'
import { findUnknownName } from './read-options.js'
import { readField } from './fields.js'

/** Announces that an operation or an event will be removed. */
export interface Deprecation {
  /** When clients should stop using it: a date such as `2026-03-01`, or an RFC 3339 date-time. */
  since: string
  /**
   * When it will be removed, not before `since`.
   * @default unknown
   */
  sunset?: string
  /**
   * A page about the replacement: an `https:` or `http:` URL.
   * @default none
   */
  link?: string
}

const dateRule = 'a date such as 2026-03-01, or an RFC 3339 date-time'

/** Returns the fault of a deprecation, with its path such as `.since`; `null` if it is valid. */
export function findDeprecationFault (value: unknown): { path: string, expected: string, value: unknown } | null {
  if (typeof value !== 'object' || value === null) return { path: '', expected: 'an object with since', value }
  const unknown = findUnknownName(value, ['since', 'sunset', 'link'])
  if (unknown !== undefined) return { path: `.${unknown}`, expected: 'since, sunset or link', value: unknown }
  const [since, sunset, link] = ['since', 'sunset', 'link'].map((name) => readField(value, name))
  const begin = readDate(since)
  const end = readDate(sunset)
  if (begin === null) return { path: '.since', expected: dateRule, value: since }
  if (sunset !== undefined && (end === null || end < begin)) {
    return { path: '.sunset', expected: `${dateRule}, not before since`, value: sunset }
  }
  const isLink = link === undefined || (typeof link === 'string' && /^https?:$/.test(parseUrl(link)?.protocol ?? ''))
  return isLink ? null : { path: '.link', expected: 'an https: or http: URL', value: link }
}

type DeprecationNotice = ReturnType<typeof readDeprecation>

/** Returns a valid deprecation as clients see it, with dates in RFC 3339, UTC. */
export function readDeprecation ({ since, sunset, link }: Deprecation) {
  return {
    since: String(readDate(since)),
    sunset: readDate(sunset),
    link: link === undefined ? null : new URL(link).href
  }
}

function readDate (value: unknown): string | null {
  if (typeof value !== 'string') return null
  return normalizeInstant(/^\d{4}-\d\d-\d\d$/.test(value) ? `${value}T00:00:00Z` : value)
}

/** Returns the sentence about a deprecation in the OpenAPI document. */
export function describeDeprecation ({ since, sunset, link }: DeprecationNotice): string {
  const end = sunset === null ? '' : `; will be removed on ${sunset.slice(0, 10)}`
  return `Deprecated since ${since.slice(0, 10)}${end}.${link === null ? '' : ` See ${link}`}`
}

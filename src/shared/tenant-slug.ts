/** With the flag `u` a character is a code point, and half of a surrogate pair matches `Cs`. */
const tenantSlug = /^[^\p{Cc}\p{Cs}]{1,100}$/u

/** What a tenant slug is, for messages. */
export const tenantSlugRule = 'a tenant slug of 1 to 100 characters without control characters'

/**
 * Whether a value can name a tenant: 1 to 100 characters, none of them a control character or half of a surrogate pair.
 * An emoji is one character. The one rule for keys, rows, requests and events.
 */
export function isTenantSlug (value: unknown): value is string {
  return typeof value === 'string' && tenantSlug.test(value)
}

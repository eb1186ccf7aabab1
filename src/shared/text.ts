const withoutControls = /^[^\p{Cc}\p{Cs}]+$/u

/** The rule for tenant slugs, for messages. */
export const tenantSlugRule = 'a tenant slug of 1 to 100 characters without control characters'

/** Returns whether every storage can keep a text: PostgreSQL refuses NUL and lone surrogates. */
export function isStorableText (text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/**
 * Returns whether every storage can keep all texts of a JSON value. Does not recurse: a body may be nested 30,000 deep.
 */
export function isStorableJson (value: unknown): boolean {
  const rest: unknown[] = [value]
  while (rest.length > 0) {
    const next = rest.pop()
    if (typeof next === 'string' && !isStorableText(next)) return false
    if (typeof next !== 'object' || next === null) continue
    for (const [name, member] of Object.entries(next)) rest.push(name, member)
  }
  return true
}

/** Returns whether a value is text of 1 to `maxLength` characters without control characters and lone surrogates. */
export function isPlainText (value: unknown, maxLength: number): value is string {
  return typeof value === 'string' && hasLength(value, maxLength) && withoutControls.test(value)
}

/** Returns whether a value can be a tenant slug. The one rule for keys, rows, requests and events. */
export function isTenantSlug (value: unknown): value is string {
  return isPlainText(value, 100)
}

// An emoji is one character, though its length is 2.
function hasLength (text: string, maxLength: number): boolean {
  return text.length <= maxLength || (text.length <= 2 * maxLength && [...text].length <= maxLength)
}

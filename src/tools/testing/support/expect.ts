import assert from 'node:assert/strict'

/**
 * Throws unless the values are equal. Ignores prototypes of objects, but `1` is not `'1'` and a `Date` is not a string.
 */
export function same (actual: unknown, expected: unknown, message: string): void {
  // An assertion with a custom message would hide both values from the report.
  try {
    assert.deepStrictEqual(structuredClone(actual), structuredClone(expected))
  } catch {
    throw new assert.AssertionError({ message, actual, expected, operator: 'deepStrictEqual' })
  }
}

export function holds (condition: boolean, message: string): asserts condition {
  if (!condition) throw new assert.AssertionError({ message, actual: condition, expected: true, operator: '==' })
}

export async function rejects (promise: Promise<unknown>, message: string): Promise<void> {
  const outcome = await promise.then((value) => ({ value }), () => null)
  if (outcome !== null) {
    throw new assert.AssertionError({ message, actual: outcome.value, expected: 'a rejection', operator: 'rejects' })
  }
}

/** Throws unless the value is an RFC 3339 date in UTC with milliseconds. */
export function isInstant (value: unknown, message: string): asserts value is string {
  const isMatch = typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)
  if (isMatch) return
  throw new assert.AssertionError({
    message, actual: value, expected: 'a date like 2026-01-31T12:00:00.000Z', operator: 'match'
  })
}

/** An array of exactly `Count` items. */
export type Exactly<Item, Count extends number, Some extends Item[] = []> =
  number extends Count ? Item[] : Some['length'] extends Count ? Some : Exactly<Item, Count, [...Some, Item]>

/** Returns the items. Throws unless there are exactly `count`. */
export function exactly<Item, Count extends number> (
  items: readonly Item[], count: Count, what: string
): Exactly<Item, Count> {
  if (items.length === count) return [...items] as Exactly<Item, Count>
  throw new assert.AssertionError({
    message: `the number of ${what}`, actual: items.length, expected: count, operator: '=='
  })
}

/** Returns the value. Throws if it is missing. */
export function given<Value> (value: Value | null | undefined, message: string): Value {
  if (value !== null && value !== undefined) return value
  throw new assert.AssertionError({ message, actual: value, expected: 'a value', operator: '!=' })
}

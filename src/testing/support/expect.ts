import assert from 'node:assert/strict'

/** Compares values; what prototype an object has does not matter, but `1` is not `'1'` and a `Date` is no text. */
export function same (actual: unknown, expected: unknown, message: string): void {
  // A message alone would hide the two values from the report.
  try {
    assert.deepStrictEqual(structuredClone(actual), structuredClone(expected))
  } catch {
    throw new assert.AssertionError({ message, actual, expected, operator: 'deepStrictEqual' })
  }
}

/** Fails unless the condition holds. */
export function holds (condition: boolean, message: string): asserts condition {
  if (!condition) throw new assert.AssertionError({ message, actual: condition, expected: true, operator: '==' })
}

/** Fails unless the promise rejects. */
export async function rejects (promise: Promise<unknown>, message: string): Promise<void> {
  const outcome = await promise.then((value) => ({ value }), () => null)
  if (outcome !== null) {
    throw new assert.AssertionError({ message, actual: outcome.value, expected: 'a rejection', operator: 'rejects' })
  }
}

/** Fails unless the text is a date as it crosses the ports: RFC 3339, UTC, milliseconds. */
export function isInstant (value: unknown, message: string): asserts value is string {
  const isMatch = typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)
  if (isMatch) return
  throw new assert.AssertionError({ message, actual: value, expected: 'such as 2026-01-31T12:00:00.000Z', operator: 'match' })
}

/** So many items, no more and no fewer. */
export type Exactly<Item, Count extends number, Some extends Item[] = []> =
  number extends Count ? Item[] : Some['length'] extends Count ? Some : Exactly<Item, Count, [...Some, Item]>

/** Fails unless there are so many items. */
export function exactly<Item, Count extends number> (items: readonly Item[], count: Count, what: string): Exactly<Item, Count> {
  if (items.length === count) return [...items] as Exactly<Item, Count>
  throw new assert.AssertionError({ message: `how many ${what}`, actual: items.length, expected: count, operator: '==' })
}

/** Takes out what must be there. */
export function given<Value> (value: Value | null | undefined, message: string): Value {
  if (value !== null && value !== undefined) return value
  throw new assert.AssertionError({ message, actual: value, expected: 'something', operator: '!=' })
}

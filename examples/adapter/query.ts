import type { SortItem } from 'fastify-recruiting-api'

export type Value = string | number

/** Conditions and the values that go with them: nothing that a client sends becomes part of the text. */
export function where (conditions: Array<[text: string, value: Value | undefined]>): { text: string, values: Value[] } {
  const given = conditions.filter((condition): condition is [string, Value] => condition[1] !== undefined)
  return { text: `where ${given.map(([text]) => text).join(' and ')}`, values: given.map(([, value]) => value) }
}

/** `order by` with your columns. SQLite compares text by its bytes unless told otherwise, which is the order asked for. */
export function orderBy<Field extends string> (sort: ReadonlyArray<SortItem<Field>>, columns: Record<Field, string>): string {
  return `order by ${sort.map(({ field, direction }) => `${columns[field]} ${direction}`).join(', ')}`
}

/** Dates cross the ports as RFC 3339 in UTC with milliseconds. */
export function toIso (milliseconds: unknown): string {
  return new Date(Number(milliseconds)).toISOString()
}

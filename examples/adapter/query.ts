import type { SortItem } from 'fastify-recruiting-api'

export type Value = string | number

/** Joins conditions and their values. Values from clients never become part of the SQL text. */
export function where (conditions: Array<[text: string, value: Value | undefined]>): { text: string, values: Value[] } {
  const given = conditions.filter((condition): condition is [string, Value] => condition[1] !== undefined)
  return { text: `where ${given.map(([text]) => text).join(' and ')}`, values: given.map(([, value]) => value) }
}

/** Formats `order by` with your columns. By default SQLite compares text by bytes, which is code point order. */
export function orderBy<Field extends string> (
  sort: ReadonlyArray<SortItem<Field>>,
  columns: Record<Field, string>
): string {
  return `order by ${sort.map(({ field, direction }) => `${columns[field]} ${direction}`).join(', ')}`
}

/** Converts text so that `q` ignores case. Lower case has two forms of Σ; SQLite's `lower` supports only ASCII. */
export function foldCase (text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ')
}

/** Formats a date for the ports: RFC 3339 in UTC with milliseconds. */
export function toIso (milliseconds: unknown): string {
  return new Date(Number(milliseconds)).toISOString()
}

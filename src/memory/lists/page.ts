import type { IdKinds, SortItem } from '../../ports/index.js'

const firstSurrogate = 0xd800
const firstAfterSurrogates = 0xe000

/**
 * Compares two strings by Unicode code point. The operator `<` compares UTF-16 units instead, which puts characters
 * above U+FFFF (surrogate pairs) before those from U+E000 to U+FFFF.
 */
export function compareText (a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const unitA = a.charCodeAt(i)
    const unitB = b.charCodeAt(i)
    if (unitA !== unitB) return rankUnit(unitA) - rankUnit(unitB)
  }
  return a.length - b.length
}

/** Returns a comparison function for a sort order; `read` returns the value of a field. */
export function compareBy<Row, Field extends string> (
  sort: ReadonlyArray<SortItem<Field>>,
  read: (row: Row, field: Field) => string | number
): (a: Row, b: Row) => number {
  return (a, b) => {
    let order = 0
    for (const { field, direction } of sort) {
      order = compareValues(read(a, field), read(b, field)) * (direction === 'asc' ? 1 : -1)
      if (order !== 0) break
    }
    return order
  }
}

// Ranks surrogates above all other units.
function rankUnit (unit: number): number {
  return unit >= firstSurrogate && unit < firstAfterSurrogates ? unit + 0x10000 : unit
}

/** Compares numbers by value and text by code point. */
export function compareValues (a: string | number, b: string | number): number {
  return typeof a === 'number' && typeof b === 'number' ? a - b : compareText(String(a), String(b))
}

/** The type of an option `ids` that is left out. */
export type IntegerIds = Partial<Record<keyof IdKinds, 'integer'>>

/**
 * The type of one id, where `Ids` is the type of the option `ids`: `string` if the option says so, otherwise
 * `number`.
 */
export type IdOf<Ids extends Partial<IdKinds>, Name extends keyof IdKinds> = Name extends keyof Ids
  ? IdOfKind<Ids[Name]>
  : number

type IdOfKind<Kind> = Kind extends 'string' ? string : number

/** Returns whether a row passes a filter. `null` is a filter that every row passes. */
export type RowTest<Row> = ((row: Row) => boolean) | null

export function takePage<Row> (
  rows: readonly Row[],
  test: RowTest<Row>,
  { offset, limit }: { offset: number, limit: number }
): Row[] {
  if (test === null) return rows.slice(offset, offset + limit)

  const page: Row[] = []
  let toSkip = offset
  for (const row of rows) {
    if (!test(row)) continue
    if (toSkip > 0) toSkip--
    else if (page.push(row) === limit) break
  }
  return page
}

export function countRows<Row> (rows: readonly Row[], test: RowTest<Row>): number {
  if (test === null) return rows.length
  let count = 0
  for (const row of rows) {
    if (test(row)) count++
  }
  return count
}

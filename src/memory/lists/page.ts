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

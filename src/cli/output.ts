import type { Context } from './command.js'

/** Writes a result: as JSON with `--json`, otherwise as text for people. */
export function show ({ io, flags }: Pick<Context, 'io' | 'flags'>, result: unknown, text: string): void {
  io.out(flags.has('json') ? `${JSON.stringify(result, null, 2)}\n` : text)
}

/** Formats rows of cells in columns. */
export function formatTable (rows: ReadonlyArray<ReadonlyArray<unknown>>): string {
  const cells = rows.map((row) => row.map(formatCell))
  const [first = []] = cells
  const widths = first.map((_, column) => Math.max(...cells.map((row) => String(row[column]).length)))
  return cells.map((row) => `${row.map((cell, column) => cell.padEnd(Number(widths[column]))).join('  ').trimEnd()}\n`).join('')
}

/** Formats a record with a line for each field. */
export function formatRecord (record: object): string {
  return formatTable(Object.entries(record))
}

// Control characters could change what a terminal shows.
function formatCell (value: unknown): string {
  const text = Array.isArray(value) ? value.join(',') : String(value ?? '-')
  return text.replace(/[\p{Cc}\p{Cf}]/gu, '\ufffd')
}

import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { packageFolder } from '../../core/shared/files.js'
import { type CommandAudit, type Context, type Io, CommandError, UsageError } from './command.js'

type Input = NodeJS.ReadableStream & { isTTY?: boolean }
type Output = NodeJS.WritableStream & { isTTY?: boolean }

const signals = ['SIGINT', 'SIGTERM'] as const
type Signal = typeof signals[number]

interface Process {
  env: Readonly<Record<string, string | undefined>>
  stdin: Input
  stdout: Output
  stderr: Output
  on (signal: Signal, listener: () => void): unknown
  off (signal: Signal, listener: () => void): unknown
}

export function createIo (process: Process): Io {
  const { env, stdin, stdout, stderr } = process
  return {
    env,
    out: (text) => { stdout.write(text) },
    err: (text) => { stderr.write(text) },
    showsResults: stdout.isTTY === true,
    showsProgress: stderr.isTTY === true,
    ask: stdin.isTTY === true && stderr.isTTY === true ? (question) => ask(stdin, stderr, question) : null,
    now: Date.now,
    sleep: (ms, signal) => wait(ms, undefined, { signal }).catch(() => {}),
    untilInterrupted: (work) => untilInterrupted(process, work),
    readEnvFile: async () => {
      const path = resolve('.env')
      const isFile = (await stat(path).catch(() => null))?.isFile() === true
      return isFile ? { path, text: await readFile(path, 'utf8') } : null
    },
    importDriver: () => import('pg'),
    // The build writes it here. In a checkout, use `npm run demo`.
    importDemo: () => import(new URL('dist/demo/main.js', packageFolder()).href)
  }
}

/** Ctrl-C arrives twice if a script runner forwards it: the second signal changes nothing. */
async function untilInterrupted<Result> (
  process: Process, work: (signal: AbortSignal) => Promise<Result>
): Promise<Result> {
  const interruption = new AbortController()
  const interrupt = (): void => interruption.abort()
  for (const signal of signals) process.on(signal, interrupt)
  // A reader such as `head` has closed the pipe.
  process.stdout.on('error', interrupt)
  return work(interruption.signal).finally(() => {
    for (const signal of signals) process.off(signal, interrupt)
  })
}

/** Ctrl-C and Ctrl-D return an empty answer. */
async function ask (input: Input, output: Output, question: string): Promise<string> {
  const lines = createInterface({ input, output })
  const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
  try {
    return await Promise.race([lines.question(question), closed])
  } finally {
    lines.close()
  }
}

// Characters that change what a terminal shows: controls, bidirectional and invisible marks, line separators.
const unprintable = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** Replaces each character that could change what a terminal shows. */
function printable (text: string): string {
  return text.replace(unprintable, '\ufffd')
}

/** Writes lines. Names, addresses and errors in them cannot start a new line. */
export function writeLines (write: (text: string) => void, lines: readonly string[]): void {
  write(lines.map((line) => `${printable(line)}\n`).join(''))
}

/** Writes a result: as JSON with `--json`, otherwise as lines of text. */
export function showResult (
  { io, flags }: Pick<Context, 'io' | 'flags'>, result: unknown, lines: readonly string[]
): void {
  if (flags.has('json')) io.out(formatJson(result))
  else writeLines(io.out, lines)
}

export function writeJsonLine ({ out }: Pick<Io, 'out'>, value: unknown): void {
  out(`${JSON.stringify(value).replace(unprintable, escapeUnits)}\n`)
}

/** Formats a value as JSON without unprintable characters except line breaks. */
function formatJson (value: unknown): string {
  const escape = (character: string): string => character === '\n' ? character : escapeUnits(character)
  return `${JSON.stringify(value, null, 2).replace(unprintable, escape)}\n`
}

function escapeUnits (character: string): string {
  return character.split('').map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
}

export function formatTable (rows: ReadonlyArray<ReadonlyArray<unknown>>): string[] {
  const cells = rows.map((row) => row.map(formatCell))
  const [first = []] = cells
  const widths = first.map((_, column) => Math.max(...cells.map((row) => String(row[column]).length)))
  return cells.map((row) => row.map((cell, column) => cell.padEnd(Number(widths[column]))).join('  ').trimEnd())
}

/** Formats records in columns, each with a title and the name of a field; `none` if there are no records. */
export function formatRecords<Row extends object> (
  rows: readonly Row[], columns: Readonly<Record<string, keyof Row>>, none: string
): string[] {
  if (rows.length === 0) return [none]
  const fields = Object.values(columns)
  return formatTable([Object.keys(columns), ...rows.map((row) => fields.map((field) => row[field]))])
}

export function formatRecord (record: object): string[] {
  return formatTable(Object.entries(record))
}

/** Formats a count with its noun, such as `1 key` or `2 keys`. */
export function formatCount (count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

export function quoteShell (text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

const maxShown = 20

export function formatNames (names: readonly string[]): string {
  const rest = names.length - maxShown
  return names.slice(0, maxShown).join(', ') + (rest > 0 ? ` and ${rest} more` : '')
}

function formatCell (value: unknown): string {
  return Array.isArray(value) ? value.join(',') : String(value ?? '-')
}

/** Shows the change and asks, unless `--yes`. Throws unless the answer is yes; otherwise marks the audit. */
export async function confirm ({ io, flags, audit }: Context, change: string): Promise<void> {
  writeLines(io.err, [change])
  if (!flags.has('yes')) {
    if (io.ask === null) throw new UsageError('--yes: required, because there is no terminal to ask for confirmation')
    const answer = await io.ask('Continue? [y/N] ')
    if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('nothing was changed')
  }
  audit.isConfirmed = true
}

/** Returns the one of these flags that is given, or asks which. `expected` explains them. */
export async function choose<Word extends string> (
  { io, flags }: Context, words: readonly Word[], expected: string
): Promise<Word> {
  const given = words.filter((word) => flags.has(word))
  if (given.length > 1 || (given.length === 0 && (io.ask === null || flags.has('yes')))) {
    throw new UsageError(`${expected}: expected one of them`)
  }
  const answer = given[0] ?? (await io.ask?.(`${words.join(', ')} or nothing? `))?.trim().toLowerCase()
  const word = words.find((known) => known === answer)
  if (word === undefined) throw new CommandError('nothing was changed')
  return word
}

/** Changes items in turn, shows the progress, and writes the audit's entry that `change` returns for each. */
export async function changeEach<Item> (
  { io, audit }: Context, label: string, items: readonly Item[],
  change: (item: Item, index: number) => Promise<Parameters<CommandAudit['write']>[0]>
): Promise<void> {
  await withProgress(io, label, async (report) => {
    for (const [index, item] of items.entries()) {
      await audit.write(await change(item, index))
      audit.rowCount = index + 1
      report(`${index + 1} of ${items.length}`)
    }
  })
}

const firstMs = 1000
const everyMs = 250

/** Shows a long task's progress on a terminal. `work` gets a function that sets the text. */
export async function withProgress<Result> (
  { showsProgress, err }: Pick<Io, 'showsProgress' | 'err'>, label: string,
  work: (report: (text: string) => void) => Promise<Result>
): Promise<Result> {
  const startedAt = performance.now()
  let done = ''
  let isShown = false
  function draw (): void {
    const elapsedMs = performance.now() - startedAt
    if (elapsedMs < firstMs) return
    isShown = true
    err(`\r\u001b[K${printable(`${label}: ${done === '' ? '' : `${done}, `}${Math.round(elapsedMs / 1000)} s`)}`)
  }
  const timer = showsProgress ? setInterval(draw, everyMs) : undefined
  try {
    return await work((text) => { done = text })
  } finally {
    clearInterval(timer)
    if (isShown) err('\r\u001b[K')
  }
}

import { AssertionError } from 'node:assert/strict'
import { inspect } from 'node:util'
import type { KeyLookupCase, StorageCase } from './support/case.js'

/** The result of one case. */
export interface CaseResult {
  /** From the case, like the next two fields. */
  group: string
  name: string
  port: string
  /** The error of the case; `null` if it passed. */
  error: Error | null
  /** Duration in milliseconds, including the harness. */
  durationMs: number
}

/** Options of `runCases`. */
export interface RunOptions {
  /** Time limit of one case in milliseconds, including the harness. @default 30000 */
  timeoutMs?: number
}

/** Runs the cases one after another, each on a new harness from `make`. Does not reject if a case fails. */
export async function runCases<Make> (
  cases: ReadonlyArray<
    Pick<StorageCase | KeyLookupCase, 'group' | 'name' | 'port'> & { run(make: Make): Promise<void> }
  >,
  make: Make,
  { timeoutMs = 30_000 }: RunOptions = {}
): Promise<CaseResult[]> {
  const results: CaseResult[] = []
  for (const one of cases) {
    const { group, name, port } = one
    const start = performance.now()
    const error = await failureOf(() => one.run(make), timeoutMs)
    results.push({ group, name, port, error, durationMs: performance.now() - start })
  }
  return results
}

function toError (error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

async function failureOf (run: () => Promise<void>, timeoutMs: number): Promise<Error | null> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`the case did not finish within ${timeoutMs} ms`)), timeoutMs)
  })
  const failure = await Promise.race([run(), timeout]).then(() => null, toError)
  clearTimeout(timer)
  return failure
}

const maxLineLength = 100
const maxStackLines = 8

/**
 * Formats a readable report: the number of passed cases in each group, then each failure with its method, the compared
 * value, and the expected and actual values.
 */
export function formatReport (results: readonly CaseResult[]): string {
  const failures = results.flatMap(({ error, ...result }) => error === null ? [] : [{ ...result, error }])
  const lines = [...new Set(results.map(({ group }) => group))].map((group) => formatGroup(group, results))
  const sum = failures.length === 0
    ? `All ${results.length} cases passed.`
    : `${failures.length} of ${results.length} cases failed.`
  return [...lines, '', sum, ...failures.map((failure, index) => formatFailure(failure, index, failures)), ''].join(
    '\n'
  )
}

function formatGroup (group: string, results: readonly CaseResult[]): string {
  const own = results.filter((result) => result.group === group)
  const passed = own.filter(({ error }) => error === null).length
  const mark = passed === own.length ? 'ok    ' : 'FAILED'
  return `${mark}  ${group.padEnd(10)}  ${passed} of ${own.length}`
}

type Failure = CaseResult & { error: Error }

function formatFailure ({ group, name, port, error }: Failure, index: number, failures: readonly Failure[]): string {
  return [
    '', `${index + 1}. ${group}: ${name}`, `   method    ${port}`,
    ...error instanceof AssertionError ? formatComparison(error) : formatThrown(error, failures)
  ].join('\n')
}

function formatComparison ({ message, expected, actual }: AssertionError): string[] {
  // Node appends a diff to the message; the two values below are easier to read.
  return [
    `   compared  ${message.replace(/\n[^]*/, '')}`, `   expected  ${show(expected)}`, `   got       ${show(actual)}`
  ]
}

// An error that many cases share, for example a missing column, is shown once.
function formatThrown (error: Error, failures: readonly Failure[]): string[] {
  const first = failures.findIndex((failure) => failure.error.message === error.message)
  if (failures[first]?.error !== error) return [`   threw     ${indent(error.message)}, as in ${first + 1}`]
  return [`   threw     ${indent(shorten(error.stack ?? String(error)))}`]
}

function show (value: unknown): string {
  const limits = { depth: 6, maxArrayLength: 30, maxStringLength: 500 }
  const line = inspect(value, { ...limits, breakLength: Number.POSITIVE_INFINITY, compact: true })
  return line.length <= maxLineLength ? line : indent(inspect(value, { ...limits, breakLength: maxLineLength }))
}

// The first calls of a stack are the storage's, the others are this kit's.
function shorten (stack: string): string {
  return stack.split('\n').slice(0, maxStackLines).join('\n')
}

function indent (text: string): string {
  return text.replaceAll('\n', `\n${' '.repeat(13)}`)
}

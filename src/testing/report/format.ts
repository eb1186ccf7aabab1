import { AssertionError } from 'node:assert/strict'
import { inspect } from 'node:util'
import type { CaseResult } from './run.js'

const kLineLength = 100
const kStackLines = 8

/**
 * A report for people: how many cases of each group passed, then every failure with the sentence that does not hold, what
 * was looked at, what was expected and what came.
 */
export function formatReport (results: readonly CaseResult[]): string {
  const failures = results.filter(({ error }) => error !== null)
  const lines = [...new Set(results.map(({ group }) => group))].map((group) => formatGroup(group, results))
  const sum = failures.length === 0
    ? `All ${results.length} cases passed.`
    : `${failures.length} of ${results.length} cases failed.`
  return [...lines, '', sum, ...failures.map(formatFailure), ''].join('\n')
}

function formatGroup (group: string, results: readonly CaseResult[]): string {
  const own = results.filter((result) => result.group === group)
  const passed = own.filter(({ error }) => error === null).length
  const mark = passed === own.length ? 'ok    ' : 'FAILED'
  return `${mark}  ${group.padEnd(10)}  ${passed} of ${own.length}`
}

function formatFailure ({ group, name, port, says, error }: CaseResult, index: number): string {
  return [
    '',
    `${index + 1}. ${group}: ${name}`,
    `   method    ${port}`,
    `   port      ${says}`,
    ...formatError(error)
  ].join('\n')
}

function formatError (error: Error | null): string[] {
  if (error instanceof AssertionError) {
    // Node adds a difference, line by line, which the two values below show better.
    const [what = ''] = error.message.split('\n')
    return [`   compared  ${what}`, `   expected  ${show(error.expected)}`, `   got       ${show(error.actual)}`]
  }
  return [`   threw     ${indent(shorten(error?.stack ?? String(error)))}`]
}

function show (value: unknown): string {
  const limits = { depth: 6, maxArrayLength: 30, maxStringLength: 500 }
  const line = inspect(value, { ...limits, breakLength: Number.POSITIVE_INFINITY, compact: true })
  return line.length <= kLineLength ? line : indent(inspect(value, { ...limits, breakLength: kLineLength }))
}

// The first calls are those of the storage, what follows is the kit.
function shorten (stack: string): string {
  return stack.split('\n').slice(0, kStackLines).join('\n')
}

function indent (text: string): string {
  return text.replaceAll('\n', `\n${' '.repeat(13)}`)
}

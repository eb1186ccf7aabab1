import type { KeyLookupCase, StorageCase } from '../support/case.js'

/** The result of one case. */
export interface CaseResult {
  /** Copied from the case, like the next two fields. */
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
    timer = setTimeout(() => reject(new Error(`the case did not end within ${timeoutMs} ms`)), timeoutMs)
  })
  const failure = await Promise.race([run(), timeout]).then(() => null, toError)
  clearTimeout(timer)
  return failure
}

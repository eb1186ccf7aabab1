import type { KeyLookupCase, StorageCase } from '../support/case.js'

/** How one case ended. */
export interface CaseResult {
  /** As in the case, with the three that follow. */
  group: string
  name: string
  port: string
  says: string
  /** What the case threw; `null` if it passed. */
  error: Error | null
  /** What it took, harness included. */
  durationMs: number
}

/** How `runCases` runs. */
export interface RunOptions {
  /** What one case may take, in milliseconds, harness included. @default 30000 */
  timeoutMs?: number
}

/** Runs the cases one after another, each on what `make` makes; never rejects for a case that fails. */
export async function runCases<Make> (
  cases: ReadonlyArray<Pick<StorageCase | KeyLookupCase, 'group' | 'name' | 'port' | 'says'> & { run (make: Make): Promise<void> }>,
  make: Make,
  { timeoutMs = 30_000 }: RunOptions = {}
): Promise<CaseResult[]> {
  const results: CaseResult[] = []
  for (const one of cases) {
    const { group, name, port, says } = one
    const start = performance.now()
    const error = await failureOf(() => one.run(make), timeoutMs)
    results.push({ group, name, port, says, error, durationMs: performance.now() - start })
  }
  return results
}

function toError (error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

async function failureOf (run: () => Promise<void>, timeoutMs: number): Promise<Error | null> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`the case has not ended within ${timeoutMs} ms`)), timeoutMs)
  })
  const failure = await Promise.race([run(), timeout]).then(() => null, toError)
  clearTimeout(timer)
  return failure
}

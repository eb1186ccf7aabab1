import { open, rm } from 'node:fs/promises'
import { type Context, type Option, UsageError } from './command.js'

/** The option that names the file for a secret. */
export const outOption: Option = { value: 'FILE', about: 'writes the secret to a new file that only you can read, instead of the terminal' }

/**
 * Runs `work`, which creates a secret, and gives it to `keep` before it commits: the file of `--out`, which must not exist,
 * or the terminal. Throws, before anything changes, if there is neither.
 */
export async function withSecretOutput<Result> (
  { io, flags }: Pick<Context, 'io' | 'flags'>,
  work: (keep: (secret: string) => Promise<void>) => Promise<Result>
): Promise<Result> {
  const path = flags.text('out')
  if (path !== undefined) return withSecretFile(path, work)
  if (flags.has('json')) throw new UsageError('--out: missing, because --json never shows a secret; add --out FILE')
  if (!io.showsResults) throw new UsageError('--out: missing, and a secret is shown on a terminal only; add --out FILE')
  let shown = ''
  const result = await work(async (secret) => { shown = secret })
  io.out(`${shown}\n`)
  io.err('It cannot be shown again.\n')
  return result
}

async function withSecretFile<Result> (path: string, work: (keep: (secret: string) => Promise<void>) => Promise<Result>): Promise<Result> {
  const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    const problem = error.code === 'EEXIST' ? 'the file exists, name another one' : `the file cannot be made (${error.code})`
    throw new UsageError(`--out: ${problem}`)
  })
  let isDone = false
  try {
    const result = await work(async (secret) => {
      await file.writeFile(`${secret}\n`)
      await file.sync()
    })
    isDone = true
    return result
  } finally {
    await file.close()
    if (!isDone) await rm(path, { force: true })
  }
}

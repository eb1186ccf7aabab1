import { type Context, RefusedError, UsageError } from './command.js'

/** Says what will change and asks, unless `--yes`. Throws if the answer is not yes. */
export async function confirm ({ io, flags }: Pick<Context, 'io' | 'flags'>, change: string): Promise<void> {
  io.err(`${change}\n`)
  if (flags.has('yes')) return
  if (io.ask === null) throw new UsageError('--yes: missing, and nobody can be asked without a terminal')
  const answer = await io.ask('Continue? [y/N] ')
  if (!/^y(es)?$/i.test(answer.trim())) throw new RefusedError('nothing was changed')
}

import { fork } from 'node:child_process'
import { once } from 'node:events'

/** A process that works for the benchmark, so that load and measured code never share an event loop. */
export interface Helper {
  pid: number
  /** Calls a function of the process and waits for the result. */
  ask<Answer> (question: string, argument?: unknown): Promise<Answer>
  stop (): Promise<void>
}

interface Reply {
  value?: unknown
  failure?: string
}

/** Starts a module that calls `serveQuestions`. Call one function at a time. */
export async function startHelper (module: URL, ...args: string[]): Promise<Helper> {
  const child = fork(module, args, { execArgv: ['--expose-gc'] })
  const exited = once(child, 'exit')
  const failed = exited.then((): Reply => ({ failure: 'the process has ended' }))
  await next()

  async function next (): Promise<Reply> {
    const message = once(child, 'message').then(([reply]): Reply => reply)
    const reply = await Promise.race([message, failed])
    if (reply.failure !== undefined) throw new Error(`${module.pathname} ${args.join(' ')}: ${reply.failure}`)
    return reply
  }

  return {
    pid: Number(child.pid),
    async ask<Answer> (question: string, argument: unknown = null) {
      child.send({ question, argument })
      return (await next()).value as Answer
    },
    async stop () {
      child.disconnect()
      await exited
    }
  }
}

/** Serves the calls of the parent process, including `cpu`, and exits with it. */
export function serveQuestions (answers: Record<string, (argument: unknown) => unknown>): void {
  const known = new Map<string, (argument: unknown) => unknown>(Object.entries({ cpu: readCpuMicros, ...answers }))
  process.on('message', async ({ question, argument }: { question: string, argument: unknown }) => {
    try {
      reply({ value: await known.get(question)?.(argument) })
    } catch (error) {
      reply({ failure: error instanceof Error ? error.stack ?? error.message : String(error) })
    }
  })
  process.on('disconnect', () => process.exit())
  reply({})
}

/** Returns the microseconds of CPU used by this process, in all its threads. */
export function readCpuMicros (): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

function reply (message: Reply): void {
  process.send?.(message)
}

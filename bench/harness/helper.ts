import { fork } from 'node:child_process'
import { once } from 'node:events'

/** A process that works for the benchmark, so that load and what is measured never share an event loop. */
export interface Helper {
  /** Asks the process to do something and waits for the result. */
  ask<Answer> (question: string, argument?: unknown): Promise<Answer>
  stop (): Promise<void>
}

interface Reply {
  value?: unknown
  failure?: string
}

/** Starts a module that calls `serveQuestions`. It is asked one question at a time. */
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

/** Answers the questions of the process that started this one, `cpu` among them, and ends with it. */
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

/** Microseconds of CPU that this process has used so far, in all its threads. */
export function readCpuMicros (): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

function reply (message: Reply): void {
  process.send?.(message)
}

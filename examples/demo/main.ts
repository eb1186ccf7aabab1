import { once } from 'node:events'
import type { FastifyPluginAsync } from 'fastify'
import { printToConsole } from './console.js'
import { startDemo } from './demo.js'
import { choosePort, readNumber } from './ports.js'

export interface DemoSurroundings {
  /** `PORT`, `RECEIVER_PORT` and `EVERY_MS`, the milliseconds between background actions. */
  env: Readonly<Record<string, string | undefined>>
  /** A PostgreSQL database; `null` for memory. */
  databaseUrl: string | null
  /** Serves Swagger UI; `null` if it is not installed. */
  referencePage: FastifyPluginAsync | null
  /** A command that starts the demo on other ports. */
  otherPorts: string
}

/** Runs the demo until SIGINT or SIGTERM. Resolves with the exit code; prints errors. */
export async function runDemo ({ env, databaseUrl, referencePage, otherPorts }: DemoSurroundings): Promise<number> {
  try {
    const demo = await startDemo({
      port: await choosePort(env, 'PORT', 3000),
      receiverPort: await choosePort(env, 'RECEIVER_PORT', 3001),
      databaseUrl,
      referencePage,
      everyMs: readNumber(env, 'EVERY_MS', 3000),
      print: printToConsole,
      welcome: console.log
    })
    // Ctrl-C arrives twice if a script runner forwards it.
    const ignore = (): void => {}
    process.on('SIGINT', ignore).on('SIGTERM', ignore)
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
    console.log('Closing: waiting for deliveries in flight')
    await demo.close()
    console.log('Closed')
    return 0
  } catch (error) {
    console.error(explain(error, otherPorts))
    return 1
  }
}

function explain (error: unknown, otherPorts: string): unknown {
  const { code, port } = error as { code?: string, port?: number }
  if (code === 'EADDRINUSE') return `Port ${port} is in use. Choose other ports: ${otherPorts}`
  return error instanceof RangeError ? error.message : error
}

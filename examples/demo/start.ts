import { printToConsole } from './console.js'
import { type Demo, startDemo } from './demo.js'
import { choosePort, readNumber } from './ports.js'

try {
  closeOnSignal(await startDemo({
    port: await choosePort('PORT', 3000),
    receiverPort: await choosePort('RECEIVER_PORT', 3001),
    databaseUrl: process.env.DATABASE_URL ?? null,
    everyMs: readNumber('EVERY_MS', 3000),
    print: printToConsole,
    welcome: console.log
  }))
} catch (error) {
  console.error(explain(error))
  process.exitCode = 1
}

function closeOnSignal (demo: Demo): void {
  let closing: Promise<void> | null = null
  // Ctrl-C arrives twice if a script runner forwards it.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => { closing ??= close(demo) })
}

async function close (demo: Demo): Promise<void> {
  console.log('Closing: waiting for deliveries in flight')
  await demo.close()
  console.log('Closed')
}

function explain (error: unknown): unknown {
  const { code, port } = error as { code?: string, port?: number }
  if (code === 'EADDRINUSE') return `Port ${port} is in use. Choose others: PORT=4000 RECEIVER_PORT=4001 npm run demo`
  return error instanceof RangeError ? error.message : error
}

import { printToConsole } from './console.js'
import { type Demo, startDemo } from './demo.js'

try {
  closeOnSignal(await startDemo({
    port: readNumber('PORT', 3000),
    receiverPort: readNumber('RECEIVER_PORT', 3001),
    databaseUrl: process.env.DATABASE_URL ?? null,
    everyMs: readNumber('EVERY_MS', 3000),
    print: printToConsole,
    welcome: console.log
  }))
} catch (error) {
  console.error(explain(error))
  process.exitCode = 1
}

function readNumber (name: string, fallback: number): number {
  const text = process.env[name] ?? String(fallback)
  if (!/^\d{1,5}$/.test(text)) throw new RangeError(`${name}: expected a number, got ${JSON.stringify(text)}`)
  return Number(text)
}

function closeOnSignal (demo: Demo): void {
  let closing: Promise<void> | null = null
  // Ctrl-C arrives twice when a script runner passes it on.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => { closing ??= close(demo) })
}

async function close (demo: Demo): Promise<void> {
  console.log('Closing; deliveries under way may end')
  await demo.close()
  console.log('Closed')
}

function explain (error: unknown): unknown {
  const { code, port } = error as { code?: string, port?: number }
  if (code === 'EADDRINUSE') return `Port ${port} is taken. Choose others: PORT=4000 RECEIVER_PORT=4001 npm run demo`
  return error instanceof RangeError ? error.message : error
}

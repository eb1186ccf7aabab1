import { createServer } from 'node:net'

type Environment = Readonly<Record<string, string | undefined>>

/** Returns the port in the environment variable, otherwise `preferred`, or 0 (any free port) if that one is in use. */
export async function choosePort (env: Environment, name: string, preferred: number): Promise<number> {
  if (env[name] !== undefined) return readNumber(env, name, preferred)
  if (await isFree(preferred)) return preferred
  console.log(`Port ${preferred} is in use. The demo uses a free port instead. To choose one, set ${name}.`)
  return 0
}

export function readNumber (env: Environment, name: string, fallback: number): number {
  const text = env[name] ?? String(fallback)
  if (!/^\d{1,5}$/.test(text)) throw new RangeError(`${name}: expected a number, got ${JSON.stringify(text)}`)
  return Number(text)
}

/**
 * Whether no program listens on the port. macOS lets two programs share a port if only one of them listens on all
 * addresses: both are tried.
 */
export async function isFree (port: number): Promise<boolean> {
  return await canListen({ port, host: '127.0.0.1' }) && await canListen({ port })
}

function canListen (address: { port: number, host?: string }): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(address, () => probe.close(() => resolve(true)))
  })
}

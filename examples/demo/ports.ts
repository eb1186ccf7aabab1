import { createServer } from 'node:net'

/** Returns the port in the environment variable, otherwise `preferred`, or 0 (any free port) if that one is in use. */
export async function choosePort (name: string, preferred: number): Promise<number> {
  if (process.env[name] !== undefined) return readNumber(name, preferred)
  if (await isFree(preferred)) return preferred
  console.log(`Port ${preferred} is in use. The demo uses a free port instead. To choose one, set ${name}.`)
  return 0
}

/** Reads a number from the environment. */
export function readNumber (name: string, fallback: number): number {
  const text = process.env[name] ?? String(fallback)
  if (!/^\d{1,5}$/.test(text)) throw new RangeError(`${name}: expected a number, got ${JSON.stringify(text)}`)
  return Number(text)
}

function isFree (port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}

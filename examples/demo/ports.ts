import { createServer } from 'node:net'

/** The port that the environment names; otherwise this one, or 0 for any that is free if another program has it. */
export async function choosePort (name: string, preferred: number): Promise<number> {
  if (process.env[name] !== undefined) return readNumber(name, preferred)
  if (await isFree(preferred)) return preferred
  console.log(`Port ${preferred} is taken: the demo uses a free one instead. ${name}=… names another.`)
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

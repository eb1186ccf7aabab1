import { randomBytes } from 'node:crypto'

/**
 * Makes an event id: `evt_` and 32 hexadecimal digits, the first 12 the time and the others random, so that new ids stand
 * side by side in an index.
 */
export function generateEventId (): string {
  return `evt_${Date.now().toString(16).padStart(12, '0')}${randomBytes(10).toString('hex')}`
}

/** The exact text that is signed and sent. */
export function formatEventBody (
  { id, type, timestamp, tenantSlug, data }: { id: string, type: string, timestamp: string, tenantSlug: string, data: unknown },
  marks: { test?: true, erased?: true } = {}
): string {
  return JSON.stringify({ id, type, timestamp, tenant_slug: tenantSlug, data, ...marks })
}

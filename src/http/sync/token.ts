import { createHmac, timingSafeEqual } from 'node:crypto'

/** How far a client has read. */
export interface SyncState {
  /** The position among the changes. */
  position: string
  /** While the client still reads all rows: the id of the last one, as text; otherwise `null`. */
  afterId: string | null
}

/** Longer tokens are refused unread. */
const maxLength = 512

/** Formats a token that is valid only for `subject`, such as a tenant and a resource. */
export function formatToken (secret: Uint8Array, subject: string, { position, afterId }: SyncState): string {
  const content = Buffer.from(JSON.stringify([position, afterId])).toString('base64url')
  return `${content}.${sign(secret, subject, content).toString('base64url')}`
}

/** Parses a token. Returns `null` if this secret and subject did not make it. */
export function parseToken (secret: Uint8Array, subject: string, token: string): SyncState | null {
  const [content = '', signature = '', ...rest] = token.split('.')
  if (token.length > maxLength || rest.length > 0) return null
  const given = Buffer.from(signature, 'base64url')
  const expected = sign(secret, subject, content)
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null
  const [position, afterId] = JSON.parse(Buffer.from(content, 'base64url').toString()) as [string, string | null]
  return { position, afterId }
}

function sign (secret: Uint8Array, subject: string, content: string): Buffer {
  return createHmac('sha256', secret).update(`${subject}\n${content}`).digest()
}

import { createHash } from 'node:crypto'

/** Returns a hash of a body, in quotes. Send it as a weak tag, because the host may compress. */
export function tagOf (body: Buffer): string {
  return `"${createHash('sha256').update(body).digest('base64url')}"`
}

/** Returns whether the client already has the body with this tag (RFC 9110, section 13.1.2). */
export function hasTag (ifNoneMatch = '', tag: string): boolean {
  const known = ifNoneMatch.split(',').map((text) => text.trim().replace(/^W\//, ''))
  return known.includes(tag) || known.includes('*')
}

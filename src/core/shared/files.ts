import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

/** Returns this package's folder. Throws if the package is bundled and not installed. */
export function packageFolder (): URL {
  const file = createRequire(import.meta.url).resolve('fastify-recruiting-api/package.json')
  return new URL('.', pathToFileURL(file))
}

/** Returns a file's hash in quotes. Send it as a weak tag, because the host may compress the response. */
export function tagOf (body: Buffer): string {
  return `"${createHash('sha256').update(body).digest('base64url')}"`
}

/** Returns whether the client already has the file with this tag (RFC 9110, section 13.1.2). */
export function hasTag (ifNoneMatch = '', tag: string): boolean {
  const known = ifNoneMatch.split(',').map((text) => text.trim().replace(/^W\//, ''))
  return known.includes(tag) || known.includes('*')
}

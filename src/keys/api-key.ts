import { hash, randomBytes } from 'node:crypto'

/**
 * Generates an API key: `rk_` and 43 random characters of `A-Z a-z 0-9 - _` (256 bits). Show it to its owner once and
 * store only `hashApiKey(key)`.
 */
export function generateApiKey (): string {
  return `rk_${randomBytes(32).toString('base64url')}`
}

/**
 * Returns the SHA-256 digest of an API key as 64 hexadecimal digits. A plain digest is safe for keys of high entropy,
 * such as those of `generateApiKey`, but not for passwords.
 */
export function hashApiKey (key: string): string {
  return hash('sha256', key, 'hex')
}

import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { assertOption } from '../shared/read-options.js'

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const randomLength = 43
const checksumLength = 6
const bodyLength = randomLength + checksumLength

/**
 * Generates an API key: the prefix, `_`, 32 random bytes as 43 digits of `0-9 A-Z a-z`, and a checksum of 6 digits.
 * Show it to its owner once and store only `hashApiKey(key)`. The prefix has 2 to 16 characters of `a-z 0-9`, the
 * first a letter. Throws `invalid_option`.
 */
export function generateApiKey (prefix?: string): string {
  const random = formatBase62(BigInt(`0x${randomBytes(32).toString('hex')}`), randomLength)
  const unchecked = `${readKeyPrefix(prefix, 'prefix')}_${random}`
  return unchecked + formatChecksum(unchecked)
}

/**
 * Returns whether a text is a key of `generateApiKey(prefix)`, by its form and its checksum. It may be expired,
 * revoked or never issued. Throws `invalid_option`.
 */
export function isApiKey (text: unknown, prefix?: string): boolean {
  return typeof text === 'string' && hasKeyFormat(text, readKeyPrefix(prefix, 'prefix')) && hasKeyChecksum(text)
}

/**
 * Returns the pattern of keys of `generateApiKey(prefix)`, for secret scanners: its `source` has only what every
 * scanner knows. One in 56 billion of its matches has a valid checksum by chance; check others with `isApiKey`.
 * Throws `invalid_option`.
 */
export function apiKeyPattern (prefix?: string): RegExp {
  return new RegExp(`\\b${readKeyPrefix(prefix, 'prefix')}_[0-9A-Za-z]{${bodyLength}}\\b`)
}

/**
 * Returns the SHA-256 digest of an API key as 64 hexadecimal digits. A plain digest is safe for keys of high entropy,
 * such as those of `generateApiKey`, but not for passwords.
 */
export function hashApiKey (key: string): string {
  return hash('sha256', key, 'hex')
}

export function readKeyPrefix (prefix = 'rk', path: string): string {
  const isPrefix = typeof prefix === 'string' && /^[a-z][a-z0-9]{1,15}$/.test(prefix)
  assertOption(isPrefix, path, '2 to 16 characters of a-z and 0-9, the first a letter', prefix)
  return prefix
}

/** Returns whether a text has the form of a key with this prefix, valid checksum or not. */
export function hasKeyFormat (text: string, prefix: string): boolean {
  return (
    text.length === prefix.length + 1 + bodyLength &&
    text.startsWith(`${prefix}_`) &&
    /^[0-9A-Za-z]+$/.test(text.slice(-bodyLength))
  )
}

/** Returns whether a text ends with the checksum of the rest. */
export function hasKeyChecksum (text: string): boolean {
  return text.endsWith(formatChecksum(text.slice(0, -checksumLength)))
}

/** Returns the four characters of a key after its prefix, by which people recognize it. */
export function keyStart (key: string): string {
  const begin = key.indexOf('_') + 1
  return key.slice(begin, begin + 4)
}

function formatChecksum (text: string): string {
  return formatBase62(BigInt(crc32(text)), checksumLength)
}

function formatBase62 (value: bigint, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest /= 62n) text = digits.charAt(Number(rest % 62n)) + text
  return text
}

import { hash, randomBytes, randomUUID } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { maxNetworks } from '../api/keys.js'
import { type Readers, assertOption, findNearestName, list, matching, orNull, plainText } from '../shared/read-options.js'
import { parseCidr } from '../shared/networks.js'

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
 * Returns whether a text is a key of `generateApiKey(prefix)`, by its format and checksum. The key may be expired,
 * revoked or never issued. Throws `invalid_option`.
 */
export function isApiKey (text: unknown, prefix?: string): boolean {
  return typeof text === 'string' && hasKeyFormat(text, readKeyPrefix(prefix, 'prefix')) && hasKeyChecksum(text)
}

/**
 * Returns the pattern of keys of `generateApiKey(prefix)`, for secret scanners: its `source` uses only syntax that
 * every scanner supports. Check matches with `isApiKey`: only one in 56 billion has a valid checksum by chance. Throws
 * `invalid_option`.
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

export const readKeyPrefix = matching(
  (text) => /^[a-z][a-z0-9]{1,15}$/.test(text), '2 to 16 characters of a-z and 0-9, the first a letter', 'rk'
)

/** Returns whether a text has the format of a key with this prefix, ignoring the checksum. */
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

export function createKeyId (): string {
  return `key_${randomUUID().replaceAll('-', '')}`
}

/** Returns the first four characters of a key after its prefix, which identify it for people. */
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

export function readScopes (value: unknown, path: string): string[] {
  assertOption(Array.isArray(value) && value.every(isScope), path, 'an array of scopes such as candidates:read', value)
  return [...value]
}

/** Throws `invalid_option` for an unknown scope, and suggests the nearest one. */
export function expectScopes (scopes: readonly string[], path: string, known: readonly string[]): void {
  for (const scope of scopes) {
    assertOption(known.includes(scope), path, `a scope of a route, such as ${findNearestName(scope, known)}`, scope)
  }
}

function isScope (scope: unknown): boolean {
  return typeof scope === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)
}

/** The networks that a key can be used from, and the fields it can read; `null` without a limit. */
export interface KeyLimits {
  allowedIps: string[] | null
  candidateFields: string[] | null
  jobFields: string[] | null
}

const maxFields = 200

const cidr = matching((text) => parseCidr(text) !== null, 'a CIDR such as 203.0.113.0/24 or 203.0.113.7/32')
const readFields = list(plainText(100), `up to ${maxFields} names of fields`, { maximum: maxFields })

/** Nobody could use a key with an empty list. */
export const readNetworks = list(cidr, `1 to ${maxNetworks} CIDRs`, { minimum: 1, maximum: maxNetworks })

const limit = (read: typeof readFields) => (value: unknown, path: string): string[] | null =>
  orNull(read)(value as readonly string[] | undefined, path)

export const keyLimitReaders = {
  allowedIps: limit(readNetworks), candidateFields: limit(readFields), jobFields: limit(readFields)
} satisfies Readers<KeyLimits>

/** Returns the limits that are set, frozen. */
export function omitNull (limits: KeyLimits): { [Name in keyof KeyLimits]?: readonly string[] } {
  return Object.fromEntries(
    Object.entries(limits).flatMap(([name, limit]) => (limit === null ? [] : [[name, Object.freeze(limit)]]))
  )
}

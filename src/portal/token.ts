import { hash } from 'node:crypto'
import { type Session, type SessionOpener, capabilities } from '../http/sessions.js'
import type { Clock } from '../ports/index.js'
import { seal, unseal } from '../shared/sealing.js'

/** A session with its times, in milliseconds since the epoch. */
interface TimedSession extends Session {
  issuedAt: number
  expiresAt: number
}

/** Seals sessions into tokens, and opens them again. */
interface SessionBox extends SessionOpener {
  seal (tenantId: string, session: TimedSession): string
}

/** No API key of a vendor begins with it: keys of this package have no dot. */
const prefix = 'rps.'
const version = 2
/** Tolerates clocks that differ between processes. Tokens dated further ahead are invalid. */
const toleranceMs = 60_000

/** Creates a box with AES-256-GCM. The first key seals, all keys open. */
export function createSessionBox (keys: readonly Uint8Array[], clock: Pick<Clock, 'now'>): SessionBox {
  return {
    isToken: (key) => key.startsWith(prefix),

    seal (tenantId, session) {
      const [key] = keys as [Uint8Array]
      const sealed = seal(key, Buffer.concat([digestOf(tenantId), format(session)]), purpose)
      return prefix + Buffer.concat([Buffer.of(version), sealed]).toString('base64url')
    },

    open (token) {
      const bytes = decode(token.slice(prefix.length))
      if (bytes?.[0] !== version) return null
      for (const key of keys) {
        const plain = unseal(key, bytes.subarray(1), purpose)
        if (plain === null) continue
        const session = parse(plain.subarray(digestLength))
        const isValid = clock.now() < session.expiresAt && session.issuedAt <= clock.now() + toleranceMs
        const owner = plain.subarray(0, digestLength)
        return isValid ? { ...session, isOf: (tenantId) => digestOf(tenantId).equals(owner) } : null
      }
      return null
    }
  }
}

/** Associated data: binds a token to this use, if the host seals other things with the same key. */
const purpose = Buffer.from(JSON.stringify([prefix, version]))

const digestLength = 16

/** Binds a token to its tenant. An id can be longer than a token. */
function digestOf (tenantId: string): Buffer {
  return hash('sha256', tenantId, 'buffer').subarray(0, digestLength)
}

/** Decodes base64url; `null` unless it is canonical, because Node ignores characters and bits that do not fit. */
function decode (text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : null
}

/** One byte of capabilities, two times of six bytes, then the actor. */
function format ({ actor, capabilities: granted, issuedAt, expiresAt }: TimedSession): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt8(capabilities.reduce((bits, name, index) => granted.includes(name) ? bits | 1 << index : bits, 0))
  head.writeUIntBE(issuedAt, 1, 6)
  head.writeUIntBE(expiresAt, 7, 6)
  return Buffer.concat([head, toBytes(actor)])
}

function parse (plain: Buffer): TimedSession {
  const bits = plain.readUInt8()
  return {
    actor: fromBytes(plain.subarray(13)),
    capabilities: capabilities.filter((_name, index) => (bits & 1 << index) !== 0),
    issuedAt: plain.readUIntBE(1, 6),
    expiresAt: plain.readUIntBE(7, 6)
  }
}

/** One more than the highest code point. */
const base = 0x110000n

/** Encodes text as one number: 128 characters take at most 322 bytes, in UTF-8 up to 512. */
function toBytes (text: string): Buffer {
  let number = 1n
  for (const character of text) number = number * base + BigInt(Number(character.codePointAt(0)))
  const digits = number.toString(16)
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
}

/** Decodes the bytes of `toBytes`. */
function fromBytes (bytes: Buffer): string {
  let text = ''
  for (let number = BigInt(`0x${bytes.toString('hex')}`); number > 1n; number /= base) {
    text = String.fromCodePoint(Number(number % base)) + text
  }
  return text
}

import { type Session, type SessionOpener, capabilities } from '../http/sessions.js'
import type { Clock, KeyCredentials } from '../ports/index.js'
import { seal, unseal } from '../shared/sealing.js'
import { fromBytes, toBytes } from './actor-bytes.js'

/** A session with its times, in milliseconds since the epoch. */
export interface TimedSession extends Session {
  issuedAt: number
  expiresAt: number
}

/** Seals sessions into tokens, and opens them again. */
export interface SessionBox extends SessionOpener {
  seal (tenantSlug: string, session: TimedSession): string
}

/** No API key of a vendor begins with it: keys of this package have no dot. */
const prefix = 'rps.'
const version = 1
/** Clocks of several processes differ. A token that is dated further ahead is not valid. */
const toleranceMs = 60_000

/** Creates a box with AES-256-GCM. The first key seals, all keys open. */
export function createSessionBox (keys: readonly Uint8Array[], clock: Pick<Clock, 'now'>): SessionBox {
  return {
    isToken: (key) => key.startsWith(prefix),

    seal (tenantSlug, session) {
      const [key] = keys as [Uint8Array]
      const sealed = seal(key, write(session), owner(tenantSlug))
      return prefix + Buffer.concat([Buffer.of(version), sealed]).toString('base64url')
    },

    open ({ tenantSlug, key: token }) {
      const bytes = decode(token.slice(prefix.length))
      if (bytes?.[0] !== version) return null
      for (const key of keys) {
        const plain = unseal(key, bytes.subarray(1), owner(tenantSlug))
        if (plain !== null) return ifValid(read(plain), clock.now())
      }
      return null
    }
  }
}

/** Associated data that binds a token to its tenant, and a key to this use if the host also seals other things with it. */
function owner (tenantSlug: KeyCredentials['tenantSlug']): Buffer {
  return Buffer.from(JSON.stringify([prefix, version, tenantSlug]))
}

/** Returns `null` for text that is not exactly what encoding its bytes gives: Node ignores characters and bits that do not fit. */
function decode (text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : null
}

/** One byte of capabilities, two times of six bytes, then the actor. */
function write ({ actor, capabilities: granted, issuedAt, expiresAt }: TimedSession): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt8(capabilities.reduce((bits, name, index) => granted.includes(name) ? bits | 1 << index : bits, 0))
  head.writeUIntBE(issuedAt, 1, 6)
  head.writeUIntBE(expiresAt, 7, 6)
  return Buffer.concat([head, toBytes(actor)])
}

function read (plain: Buffer): TimedSession {
  const bits = plain.readUInt8()
  return {
    actor: fromBytes(plain.subarray(13)),
    capabilities: capabilities.filter((_name, index) => (bits & 1 << index) !== 0),
    issuedAt: plain.readUIntBE(1, 6),
    expiresAt: plain.readUIntBE(7, 6)
  }
}

function ifValid (session: TimedSession, now: number): Session | null {
  return now < session.expiresAt && session.issuedAt <= now + toleranceMs ? session : null
}

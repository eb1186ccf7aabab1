import { hash } from 'node:crypto'
import { type PortalCapability, type Session, type SessionOpener, capabilities } from '../../core/http/sessions.js'
import type { Clock } from '../../core/ports/index.js'
import { omitUndefined } from '../../core/shared/fields.js'
import {
  assertOption, rejectOption, type OptionsOf, type SettingsOf, choice, integer, list, optional, plainText, readInput,
  readLocale, unread
} from '../../core/shared/read-options.js'
import { seal, unseal } from '../../core/shared/sealing.js'
import { parseUrl } from '../../core/shared/text.js'
import {
  type CheckedReference, type TenantReference, type Tenants, readTenant, rejectNameless, showTenant
} from '../../core/shared/tenants.js'
import { readTheme, type PortalSettings } from './options.js'

/** Creates portal sessions for the users of a tenant. */
export interface RecruitingPortal {
  /**
   * Creates a portal session for a user whom you have signed in. Stores nothing. Throws `unknown_tenant`,
   * `tenant_resting`, or `invalid_input` with the invalid `field`. Throws `invalid_option` without the option `portal`.
   */
  createSession (session: PortalSessionInput): Promise<PortalSession>
}

/** A portal session. */
export interface PortalSession {
  /** The portal's URL with the session in its fragment. Open or embed it right away, and never store it. */
  url: string
  /** The token, which the API accepts in place of an API key. */
  token: string
  /** When the session expires, as an RFC 3339 date-time. */
  expiresAt: string
}

/** The API's address, tenants and audit. */
interface Api {
  tenants: Tenants
  /** Receives each created session. */
  report (call: { operationId: string, tenantSlug: string, tenantId: string, actor: string }): void
  /** The option `publicUrl`, possibly empty. */
  publicUrl: string
  prefix: string
}

/** Creates `app.recruiting.portal`. Without settings, its calls throw. */
export function createPortal (
  settings: PortalSettings | null, api: Readonly<Api>, clock: Pick<Clock, 'now'>
): RecruitingPortal {
  const { tenants, report } = api
  if (settings === null) return { createSession: async () => rejectOption('portal', 'the option to be set', undefined) }
  const box = createSessionBox(settings.secretKeys, clock)
  return {
    async createSession (input) {
      const request = readSessionInput(input, settings.returnOrigins)
      const issuedAt = clock.now()
      const expiresAt = issuedAt + request.expiresInSeconds * 1000
      const tenantId = await tenants.getId(request.tenant)
      // The page calls the API by slug.
      const tenantSlug = request.tenant.slug ?? (await tenants.findSlug(tenantId)) ?? rejectNameless(tenantId)
      const token = box.seal(tenantId, { ...request, issuedAt, expiresAt })
      const session = { token, expiresAt: new Date(expiresAt).toISOString() }
      report({ operationId: 'createSession', tenantSlug: showTenant(input), tenantId, actor: request.actor })
      const address = `${settings.baseUrl || api.publicUrl}${api.prefix}/portal/`
      return { url: `${address}#${formatFragment(request, tenantSlug, session)}`, ...session }
    }
  }
}

/**
 * The fragment never leaves the browser, so the token reaches no log and no `Referer`. Everything else is a hint for
 * the page.
 */
function formatFragment (
  request: SessionRequest, tenantSlug: string, { token, expiresAt }: Omit<PortalSession, 'url'>
): string {
  const { accent, ...theme } = request.theme
  return new URLSearchParams(omitUndefined({
    token,
    tenant: tenantSlug,
    expires_at: expiresAt,
    capabilities: request.capabilities.join(),
    locale: request.locale,
    mode: theme.mode,
    accent_light: accent?.light,
    accent_dark: accent?.dark,
    radius: theme.radius,
    font: theme.font,
    return_url: request.returnUrl
  })).toString()
}

/** The doc, type, default and check of each option. */
const sessionOptions = {
  /**
   * What the session can do: `read` (always), `write`, `secrets`, `bodies`, `test`, `replay`, `keys`. Only with
   * `bodies` can it change a webhook's `target_url` and set filters. With `write` and `secrets` it can add a webhook,
   * whose endpoint receives bodies. With `keys` it manages API keys, which can have all scopes of `portal.keys` and
   * outlive the session.
   * @default ['read']
   */
  capabilities: readCapabilities,
  /**
   * How long the session is valid, in seconds, 60 to 3,600.
   * @default 900
   */
  expiresInSeconds: integer(60, 3600, 900),
  /**
   * The language of the portal, such as `de` or `en-GB`.
   * @default the browser's language
   */
  locale: optional(readLocale),
  /**
   * The look of the portal in this session. Overrides the option `portal`.
   * @default {}
   */
  theme: readTheme
}

/**
 * The session to create, with the tenant whose webhooks the portal shows. For a `tenantId`, the option `tenantSlug`
 * must return the tenant's slug.
 */
export type PortalSessionInput = TenantReference & PortalSessionFields

/** The session to create, without its tenant. */
export interface PortalSessionFields extends OptionsOf<typeof sessionOptions> {
  /** The user of the portal, for the audit log, such as a user id: 1 to 128 characters without control characters. */
  actor: string
  /**
   * The page that the portal links back to: a path such as `/settings`, or a URL of an origin in
   * `portal.returnOrigins`.
   * @default none
   */
  returnUrl?: string
}

/** The checked input; `undefined` for missing fields. */
interface SessionRequest extends SettingsOf<typeof sessionOptions> {
  tenant: CheckedReference
  actor: string
  returnUrl: string | undefined
}

/** Throws `invalid_input`. */
function readSessionInput (input: PortalSessionInput, returnOrigins: readonly string[]): SessionRequest {
  const readers = { actor: plainText(128), ...sessionOptions, returnUrl: optional(readReturnUrl(returnOrigins)) }
  const { tenantSlug, tenantId, ...request } = readInput(input, { tenantSlug: unread, tenantId: unread, ...readers })
  return { ...request, tenant: readTenant({ tenantSlug, tenantId }) }
}

const readNames = list(choice(capabilities), 'an array of capabilities')

function readCapabilities (value: readonly PortalCapability[] | undefined, path: string): readonly PortalCapability[] {
  const given = readNames(value, path)
  return capabilities.filter((name) => name === 'read' || given.includes(name))
}

/**
 * Returns a reader for a path or a URL of these origins. Browsers treat `/\other.example` as another host, like two
 * slashes.
 */
function readReturnUrl (origins: readonly string[]): (value: unknown, path: string) => string {
  const expected = 'a path that begins with one slash, or a URL of an origin in portal.returnOrigins'
  return (value, path) => {
    assertOption(
      typeof value === 'string' && value.length <= 2048 && !/[\p{Cc}\s\\]/u.test(value), path, expected, value
    )
    if (/^\/(?!\/)/.test(value)) return value
    const url = parseUrl(value)
    const isListed = url !== null && origins.includes(url.origin) && url.username + url.password === ''
    assertOption(isListed, path, expected, value)
    return url.href
  }
}

/** A session with its times, in milliseconds since the epoch. */
interface TimedSession extends Session {
  issuedAt: number
  expiresAt: number
}

/** Seals sessions into tokens, and opens them again. */
interface SessionBox extends SessionOpener {
  seal (tenantId: string, session: TimedSession): string
}

/** Distinguishes tokens from API keys: keys of this package contain no dot. */
const tokenPrefix = 'rps.'
const version = 2
/** Tolerates clock differences between processes. Tokens dated further ahead are invalid. */
const toleranceMs = 60_000

/** Creates a box with AES-256-GCM. The first key seals, all keys open. */
export function createSessionBox (keys: readonly Uint8Array[], clock: Pick<Clock, 'now'>): SessionBox {
  return {
    isToken: (key) => key.startsWith(tokenPrefix),

    seal (tenantId, session) {
      const [key] = keys as [Uint8Array]
      const sealed = seal(key, Buffer.concat([digestOf(tenantId), format(session)]), purpose)
      return tokenPrefix + Buffer.concat([Buffer.of(version), sealed]).toString('base64url')
    },

    open (token) {
      const bytes = decode(token.slice(tokenPrefix.length))
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

/** Associated data: binds a token to this use, in case the host seals other data with the same key. */
const purpose = Buffer.from(JSON.stringify([tokenPrefix, version]))

const digestLength = 16

/** Binds a token to its tenant. An id can be longer than a token. */
function digestOf (tenantId: string): Buffer {
  return hash('sha256', tenantId, 'buffer').subarray(0, digestLength)
}

/** Decodes base64url; `null` unless it is canonical, because Node ignores invalid characters and spare bits. */
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

import { type PortalCapability, capabilities } from '../http/sessions.js'
import { expect } from '../shared/expect.js'
import { parseUrl } from '../shared/parse-url.js'
import { type Readers, choice, integer, optional, readInput } from '../shared/read-options.js'
import { isPlainText, isTenantSlug, tenantSlugRule } from '../shared/text.js'
import { type PortalTheme, type ThemeSettings, readTheme } from './theme.js'

/** The session to create. */
export interface PortalSessionInput {
  /** The tenant whose webhooks the portal shows: 1 to 100 characters without control characters. */
  tenantSlug: string
  /** Who uses the portal, for the audit log, such as the id of a user: 1 to 128 characters without control characters. */
  actor: string
  /**
   * Everything that the session may do: `read` (always), `write`, `secrets`, `bodies`, `test`, `replay`.
   * @default ['read']
   */
  capabilities?: readonly PortalCapability[]
  /**
   * How long the session is valid, in seconds, 60 to 3,600.
   * @default 900
   */
  expiresInSeconds?: number
  /**
   * The language of the portal, such as `de` or `en-GB`.
   * @default that of the browser
   */
  locale?: string
  /**
   * The look of the portal in this session, over that of the option `portal`.
   * @default {}
   */
  theme?: PortalTheme
  /**
   * The page that the portal links back to: an absolute URL of `http` or `https`, or a path such as `/settings`.
   * @default none
   */
  returnUrl?: string
}

/** A checked session; `undefined` for what is not given. */
export interface SessionRequest {
  tenantSlug: string
  actor: string
  capabilities: readonly PortalCapability[]
  expiresInSeconds: number
  locale: string | undefined
  theme: ThemeSettings
  returnUrl: string | undefined
}

/** Checks a session to create. Throws `invalid_input`. */
export function readSessionInput (input: PortalSessionInput): SessionRequest {
  return readInput(input, inputReaders)
}

const inputReaders: Readers<SessionRequest> = {
  tenantSlug (value, path) {
    expect(isTenantSlug(value), path, tenantSlugRule, value)
    return value
  },
  actor (value, path) {
    expect(isPlainText(value, 128), path, 'text of 1 to 128 characters without control characters', value)
    return value
  },
  capabilities: readCapabilities,
  expiresInSeconds: integer(60, 3600, 900),
  locale: optional(readLocale),
  theme: readTheme,
  returnUrl: optional(readReturnUrl)
} satisfies Readers<Record<keyof PortalSessionInput, unknown>>

const readCapability = choice(capabilities)

function readCapabilities (value: unknown = [], path: string): readonly PortalCapability[] {
  expect(Array.isArray(value), path, 'an array of capabilities', value)
  const given = value.map((name, index) => readCapability(name, `${path}[${index}]`))
  return capabilities.filter((name) => name === 'read' || given.includes(name))
}

/** Reads a language tag (BCP 47). */
export function readLocale (value: unknown, path: string): string {
  const locale = typeof value === 'string' ? canonical(value) : undefined
  expect(locale !== undefined, path, 'a language such as de or en-GB', value)
  return locale
}

function canonical (locale: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(locale)[0]
  } catch {
    return undefined
  }
}

/** A browser would take `/\other.example` for another host, as it does two slashes. */
function readReturnUrl (value: unknown, path: string): string {
  const expected = 'a URL of http or https, or a path that begins with one slash'
  expect(typeof value === 'string' && value.length <= 2048 && !/[\p{Cc}\s\\]/u.test(value), path, expected, value)
  const url = value.startsWith('//') ? null : parseUrl(value.startsWith('/') ? `https://host.invalid${value}` : value)
  const isSafe = url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === ''
  expect(isSafe, path, expected, value)
  return value.startsWith('/') ? value : url.href
}

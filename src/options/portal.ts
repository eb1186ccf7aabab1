import { en } from '../portal/messages/en.js'
import type { PortalMessages } from '../portal/messages/types.js'
import { type PortalSettings, readMessages } from '../portal/settings.js'
import { type PortalTheme, readTheme } from '../portal/look.js'
import { expect } from '../shared/expect.js'
import { parseUrl } from '../shared/addresses.js'
import { type Readers, expectObject, readOptions } from '../shared/read-options.js'
import { readKeys, readPublicUrl } from './readers.js'

/** The option `portal`: a page where a tenant's team manages its webhooks. */
export interface PortalOptions {
  /**
   * Keys of 32 bytes that seal sessions (AES-256-GCM): the first seals, all of them open. Every process of the API needs
   * the same. Removing a key ends the sessions it sealed.
   */
  secretKeys: readonly Uint8Array[]
  /**
   * The origins that may embed the portal in a frame, exactly: `https://ats.example`, for development
   * `http://localhost:3000` or `http://127.0.0.1:3000`, or `'self'` for the portal's own.
   * @default []
   */
  frameAncestors?: readonly string[]
  /**
   * The origins, besides the portal's own, that the `returnUrl` of a session may lead to, exactly:
   * `https://ats.example`, for development `http://localhost:3000` or `http://127.0.0.1:3000`.
   * @default []
   */
  returnOrigins?: readonly string[]
  /**
   * The address that the URLs of sessions begin with, if browsers use a different one from `publicUrl`.
   * @default `publicUrl`
   */
  baseUrl?: string
  /**
   * The look of the portal.
   * @default {}
   */
  theme?: PortalTheme
  /**
   * Texts for more languages, or replacements for built-in ones, by locale, such as `{ it: {…} }`. The type `PortalMessages`
   * shows missing texts.
   * @default {}
   */
  messages?: Record<string, PortalMessages>
}

/** Returns the settings of the portal; `null` without one. Throws `invalid_option`. */
export function readPortal (value: unknown, path: string): PortalSettings | null {
  if (value === undefined) return null
  const expected = 'an object such as { secretKeys }'
  // The messages show no text: it may be a key.
  expect(typeof value !== 'string', path, expected, 'text')
  expectObject(value, path, expected)
  return readOptions(value, portalReaders, path)
}

/** The default and the check of each option. */
const portalReaders: Readers<PortalSettings> = {
  secretKeys: readPortalKeys,
  frameAncestors: readFrameAncestors,
  returnOrigins: readOrigins,
  baseUrl: readPublicUrl,
  theme: readTheme,
  messages: (value = {}, path) => readMessages(value, en, path)
} satisfies Readers<Record<keyof PortalOptions, unknown>>

function readPortalKeys (value: unknown, path: string): readonly Uint8Array[] {
  const keys = readKeys(value ?? [], path)
  expect(keys.length > 0, path, 'an array of at least one Buffer of 32 bytes', value === undefined ? undefined : 'an empty array')
  return keys
}

function readFrameAncestors (value: unknown = [], path: string): readonly string[] {
  expect(Array.isArray(value), path, 'an array of origins', value)
  return value.map((origin, index) => {
    return origin === 'self' || origin === self ? self : readOrigin(origin, `${path}[${index}]`, "an origin such as https://ats.example, or 'self'")
  })
}

function readOrigins (value: unknown = [], path: string): readonly string[] {
  expect(Array.isArray(value), path, 'an array of origins', value)
  return value.map((origin, index) => readOrigin(origin, `${path}[${index}]`, 'an origin such as https://ats.example'))
}

function readOrigin (value: unknown, path: string, expected: string): string {
  expect(typeof value === 'string' && isOrigin(value), path, expected, value)
  return value
}

/** As a policy has it. */
const self = "'self'"

/** Hosts have only these characters in a policy (CSP 3, section 2.3.1), so nothing can be added to it. */
function isOrigin (text: string): boolean {
  const url = parseUrl(text)
  if (url === null || url.origin !== text || !/^[a-z\d.-]+$/.test(url.hostname)) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && ['localhost', '127.0.0.1'].includes(url.hostname))
}

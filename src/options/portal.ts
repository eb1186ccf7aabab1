import { en } from '../portal/messages/en.js'
import type { PortalMessages } from '../portal/messages/types.js'
import { readMessages } from '../portal/read-messages.js'
import type { PortalSettings } from '../portal/settings.js'
import { type PortalTheme, readTheme } from '../portal/theme.js'
import { expect } from '../shared/expect.js'
import { parseUrl } from '../shared/parse-url.js'
import { type Readers, expectObject, readOptions } from '../shared/read-options.js'
import { readKeys } from './keys.js'

/** The option `portal`: a page on which the people of a tenant manage its webhooks. */
export interface PortalOptions {
  /**
   * Keys of 32 bytes that seal sessions (AES-256-GCM): the first seals, all of them open. Every process of the API needs
   * the same. Without a key its sessions end.
   */
  secretKeys: readonly Uint8Array[]
  /**
   * The origins that may embed the portal in a frame, exactly: `https://ats.example`, for development
   * `http://localhost:3000` or `http://127.0.0.1:3000`, or `'self'` for the portal's own.
   * @default []
   */
  frameAncestors?: readonly string[]
  /**
   * The address of the server, such as `https://api.example.com`, which precedes the path in the URLs of sessions.
   * @default none: these URLs are paths
   */
  baseUrl?: string
  /**
   * The look of the portal.
   * @default {}
   */
  theme?: PortalTheme
  /**
   * The texts of more languages, or other texts for `en` and `de`, by locale, such as `{ fr: {…} }`. The type
   * `PortalMessages` tells what is missing.
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
  frameAncestors: readOrigins,
  baseUrl: readBaseUrl,
  theme: readTheme,
  messages: (value = {}, path) => readMessages(value, en, path)
} satisfies Readers<Record<keyof PortalOptions, unknown>>

function readPortalKeys (value: unknown, path: string): readonly Uint8Array[] {
  const keys = readKeys(value ?? [], path)
  expect(keys.length > 0, path, 'an array of at least one Buffer of 32 bytes', value === undefined ? undefined : 'an empty array')
  return keys
}

function readOrigins (value: unknown = [], path: string): readonly string[] {
  expect(Array.isArray(value), path, 'an array of origins', value)
  return value.map((origin, index) => {
    if (origin === 'self' || origin === self) return self
    expect(typeof origin === 'string' && isOrigin(origin), `${path}[${index}]`, "an origin such as https://ats.example, or 'self'", origin)
    return origin
  })
}

/** As a policy has it. */
const self = "'self'"

/** Hosts have only these characters in a policy (CSP 3, section 2.3.1), so nothing can be added to it. */
function isOrigin (text: string): boolean {
  const url = parseUrl(text)
  if (url === null || url.origin !== text || !/^[a-z\d.-]+$/.test(url.hostname)) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && ['localhost', '127.0.0.1'].includes(url.hostname))
}

function readBaseUrl (value: unknown = '', path: string): string {
  if (value === '') return value
  const url = typeof value === 'string' && !/[\p{Cc}\s\\]/u.test(value) ? parseUrl(value) : null
  const isBase = url !== null && /^https?:$/.test(url.protocol) && url.username + url.password + url.search + url.hash === ''
  expect(isBase, path, 'a URL such as https://api.example.com, without query and fragment', value)
  return url.href.replace(/\/+$/, '')
}

import { parseUrl } from '../shared/addresses.js'
import {
  type OptionsOf, type SettingsOf, assertObject, assertOption, list, matching, readKeys, readOptions, readPublicUrl
} from '../shared/read-options.js'
import { readTheme } from './look.js'
import { type PortalMessages, readMessages } from './messages.js'

/** As a policy has it. */
const self = "'self'"
const origin = matching(isOrigin, 'an origin such as https://ats.example')
const frameAncestor = matching(
  (text) => text === self || isOrigin(text),
  "an origin such as https://ats.example, or 'self'"
)

/** The doc, type, default and check of each option. */
const portalOptions = {
  /**
   * The origins that may embed the portal in a frame, exactly: `https://ats.example`, for development
   * `http://localhost:3000` or `http://127.0.0.1:3000`, or `'self'` for the portal's own.
   * @default []
   */
  frameAncestors: list(readFrameAncestor, 'an array of origins'),
  /**
   * The origins, besides the portal's own, that the `returnUrl` of a session may lead to, exactly:
   * `https://ats.example`, for development `http://localhost:3000` or `http://127.0.0.1:3000`.
   * @default []
   */
  returnOrigins: list(origin, 'an array of origins'),
  /**
   * The address that the URLs of sessions begin with, if browsers use a different one from `publicUrl`.
   * @default `publicUrl`
   */
  baseUrl: readPublicUrl,
  /**
   * The look of the portal.
   * @default {}
   */
  theme: readTheme,
  /**
   * Texts for more languages, or replacements for built-in ones, by locale, such as `{ it: {…} }`. The type
   * `PortalMessages` shows missing texts.
   * @default {}
   */
  messages: (value: Record<string, PortalMessages> = {}, path: string) => readMessages(value, path)
}

/** The option `portal`: a page where a tenant's team manages its webhooks. */
export interface PortalOptions extends OptionsOf<typeof portalOptions> {
  /**
   * Keys of 32 bytes that seal sessions (AES-256-GCM): the first seals, all of them open. Every process of the API
   * needs the same. Removing a key ends the sessions it sealed.
   */
  secretKeys: readonly Uint8Array[]
}

/** The settings of the portal: checked options with their defaults. */
export interface PortalSettings extends SettingsOf<typeof portalOptions> {
  secretKeys: readonly Uint8Array[]
}

/** Returns the settings of the portal; `null` without one. Throws `invalid_option`. */
export function readPortal (value: PortalOptions | undefined, path: string): PortalSettings | null {
  if (value === undefined) return null
  const expected = 'an object such as { secretKeys }'
  // The messages show no text: it may be a key.
  assertOption(typeof value !== 'string', path, expected, 'text')
  assertObject(value, path, expected)
  return readOptions(value, { secretKeys: readPortalKeys, ...portalOptions }, path)
}

function readPortalKeys (value: unknown, path: string): readonly Uint8Array[] {
  const keys = readKeys(value ?? [], path)
  assertOption(
    keys.length > 0,
    path,
    'an array of at least one Buffer of 32 bytes',
    value === undefined ? undefined : 'an empty array'
  )
  return keys
}

function readFrameAncestor (value: string | undefined, path: string): string {
  return value === 'self' ? self : frameAncestor(value, path)
}

/** Hosts have only these characters in a policy (CSP 3, section 2.3.1), so nothing can be added to it. */
function isOrigin (text: string): boolean {
  const url = parseUrl(text)
  if (url === null || url.origin !== text || !/^[a-z\d.-]+$/.test(url.hostname)) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && ['localhost', '127.0.0.1'].includes(url.hostname))
}

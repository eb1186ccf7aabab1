import { readPortalKeysOption } from '../../core/keys/options.js'
import { omitUndefined } from '../../core/shared/fields.js'
import {
  type OptionsOf, type Readers, type SettingsOf, assertObject, assertOption, choice, list, matching, optional, readKeys,
  readOptions, readPublicUrl
} from '../../core/shared/read-options.js'
import { parseUrl } from '../../core/shared/text.js'
import { type PortalMessages, readMessages } from './messages.js'
import { contrastOf, lightenOn } from './theme.js'

const surfaces = { light: '#ffffff', dark: '#16181d' }

const minimumContrast = 4.5

const accentReaders = {
  light: (value, path) => readColour(value, path, 'light'), dark: (value, path) => readColour(value, path, 'dark')
} satisfies Readers<Record<keyof typeof surfaces, string>>

function readAccent (
  value: string | { light: string; dark: string } | undefined, path: string
): { light: string; dark: string } {
  if (typeof value === 'string') {
    const light = readColour(value, path, 'light')
    return { light, dark: lightenOn(surfaces.dark, light, minimumContrast) }
  }
  assertObject(value, path, 'a colour such as #0b57d0, or { light, dark }')
  return readOptions(value, accentReaders, path)
}

function readColour (value: unknown, path: string, mode: keyof typeof surfaces): string {
  assertOption(typeof value === 'string' && /^#[\da-f]{6}$/i.test(value), path, 'a colour such as #0b57d0', value)
  const contrast = contrastOf(value, surfaces[mode])
  const found = `${value} with ${Math.floor(contrast * 100) / 100}:1`
  assertOption(
    contrast >= minimumContrast, path,
    `a colour with a contrast of at least ${minimumContrast}:1 on ${surfaces[mode]}`, found
  )
  return value.toLowerCase()
}

function readRadius (value: number | undefined, path: string): string {
  assertOption(typeof value === 'number' && value >= 0 && value <= 24, path, 'a number from 0 to 24', value)
  return `${value}px`
}

const family = /("[\w -]+"|'[\w -]+'|-?[A-Za-z][\w-]*( [\w-]+)*)/

const families = new RegExp(`^${family.source}( ?, ?${family.source})*$`)

const font = matching(
  (text) => text.length <= 200 && families.test(text), 'a list of typefaces such as Inter, "Segoe UI", sans-serif'
)

/** As written in a policy. */
const self = "'self'"

const portalOrigin = matching(isOrigin, 'an origin such as https://ats.example')

const frameAncestor = matching(
  (text) => text === self || isOrigin(text),
  "an origin such as https://ats.example, or 'self'"
)

function readPortalKeys (value: unknown, path: string): readonly Uint8Array[] {
  const keys = readKeys(value ?? [], path)
  assertOption(
    keys.length > 0, path, 'an array of at least one Buffer of 32 bytes',
    value === undefined ? undefined : 'an empty array'
  )
  return keys
}

function readFrameAncestor (value: string | undefined, path: string): string {
  return value === 'self' ? self : frameAncestor(value, path)
}

/** A policy allows only these characters in hosts (CSP 3, section 2.3.1), so nothing can be injected into it. */
function isOrigin (text: string): boolean {
  const url = parseUrl(text)
  if (url === null || url.origin !== text || !/^[a-z\d.-]+$/.test(url.hostname)) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && ['localhost', '127.0.0.1'].includes(url.hostname))
}

const themeOptions = {
  /**
   * The colour of links and buttons, `#rrggbb`, or one for each mode: `{ light: '#rrggbb', dark: '#rrggbb' }`. Its
   * contrast must be at least 4.5:1 on the light surface, `#ffffff`, or on the dark one, `#16181d`. A single colour is
   * for the light mode; the dark mode uses a tint of it.
   * @default blue
   */
  accent: optional(readAccent),
  /**
   * The radius of corners in CSS pixels, 0 to 24.
   * @default 8
   */
  radius: optional(readRadius),
  /**
   * The typeface: a CSS `font-family`, such as `Inter, "Segoe UI", sans-serif`, of at most 200 characters.
   * @default the system's
   */
  font: optional(font),
  /**
   * `light`, `dark`, or `system` to follow the user's system.
   * @default 'system'
   */
  mode: optional(choice(['light', 'dark', 'system']))
}

/** The look of the portal. */
export interface PortalTheme extends OptionsOf<typeof themeOptions> {}

/** A checked look; absent parts keep the page's default. */
interface ThemeSettings extends Partial<SettingsOf<typeof themeOptions>> {}

/** Returns the look for the page. Throws `invalid_option`. */
export function readTheme (value: PortalTheme = {}, path: string): ThemeSettings {
  return omitUndefined(readOptions(value, themeOptions, path))
}

const portalOptions = {
  /**
   * The exact origins that can embed the portal in a frame: `https://ats.example`, for development
   * `http://localhost:3000` or `http://127.0.0.1:3000`, or `'self'` for the portal's own.
   * @default []
   */
  frameAncestors: list(readFrameAncestor, 'an array of origins'),
  /**
   * The exact origins, besides the portal's own, that the `returnUrl` of a session can lead to: `https://ats.example`,
   * for development `http://localhost:3000` or `http://127.0.0.1:3000`.
   * @default []
   */
  returnOrigins: list(portalOrigin, 'an array of origins'),
  /**
   * The base of session URLs, if browsers use an address other than `publicUrl`.
   * @default `publicUrl`
   */
  baseUrl: readPublicUrl,
  /**
   * The look of the portal.
   * @default {}
   */
  theme: readTheme,
  /**
   * How customers manage their API keys: in the portal with the capability `keys`, and in the API with a key that has
   * the scope `api_keys:manage`, even without a portal. Needs a key lookup with a `store`, such as `postgresKeyLookup`;
   * without one, or with `false`, these operations do not exist.
   * @default {}
   */
  keys: readPortalKeysOption,
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
   * needs the same keys. Removing a key ends the sessions it sealed.
   */
  secretKeys: readonly Uint8Array[]
}

/** The settings of the portal. */
export interface PortalSettings extends SettingsOf<typeof portalOptions> {
  secretKeys: readonly Uint8Array[]
}

/** Returns the settings of the portal; `null` without one. Throws `invalid_option`. */
export function readPortal (value: PortalOptions | undefined, path: string): PortalSettings | null {
  if (value === undefined) return null
  const expected = 'an object such as { secretKeys }'
  // Messages never contain the value: it may be a key.
  assertOption(typeof value !== 'string', path, expected, 'text')
  assertObject(value, path, expected)
  return readOptions(value, { secretKeys: readPortalKeys, ...portalOptions }, path)
}

import { readableOn, textOn } from '../contrast.js'

/** Light, dark or as the system is set. */
type Mode = 'light' | 'dark' | 'system'

/** The look that the vendor or a session chose. */
export interface ThemeHint {
  accent?: { light?: string, dark?: string }
  /** The radius of boxes and buttons, for example `8px`. */
  radius?: string
  /** A list of font families. */
  font?: string
  mode?: Mode
}

const modes: readonly string[] = ['light', 'dark', 'system']

/**
 * Reads the look from the fragment of a session. Ignores values that are not plain colours, lengths and names: anyone
 * can write a link.
 */
export function readThemeHint (fields: URLSearchParams): ThemeHint {
  const hint: ThemeHint = {}
  const light = matching(fields.get('accent_light'), /^#[\da-f]{6}$/i)
  const dark = matching(fields.get('accent_dark'), /^#[\da-f]{6}$/i)
  const radius = matching(fields.get('radius'), /^\d{1,3}(\.\d{1,3})?(px|rem|em)$/)
  const font = matching(fields.get('font'), /^[\p{L}\d ,'"_-]{1,200}$/u)
  const mode = fields.get('mode')
  if (light !== undefined || dark !== undefined) hint.accent = { ...(light && { light }), ...(dark && { dark }) }
  if (radius !== undefined) hint.radius = radius
  if (font !== undefined) hint.font = font
  if (isMode(mode)) hint.mode = mode
  return hint
}

function matching (value: string | null, pattern: RegExp): string | undefined {
  return value !== null && pattern.test(value) ? value : undefined
}

function isMode (value: string | null): value is Mode {
  return value !== null && modes.includes(value)
}

/** The backgrounds in parts.css on which an accent has the least contrast: --hover. */
const grounds = { light: '#f6f7f9', dark: '#22262e' } as const

/** Returns the custom properties of a look, the second one over the first. */
export function themeProperties (vendor: ThemeHint, session: ThemeHint): Record<string, string> {
  const { accent: vendorAccent, ...vendorRest } = vendor
  const { accent: sessionAccent, ...sessionRest } = session
  const { radius, font } = { ...vendorRest, ...sessionRest }
  const accent = { ...vendorAccent, ...sessionAccent }
  return {
    ...(radius === undefined ? {} : { '--rw-radius': radius }),
    ...(font === undefined ? {} : { '--rw-font': font }),
    ...(accent.light === undefined ? {} : accentProperties('light', accent.light)),
    ...(accent.dark === undefined ? {} : accentProperties('dark', accent.dark))
  }
}

function accentProperties (mode: 'light' | 'dark', accent: string): Record<string, string> {
  return {
    [`--rw-accent-${mode}`]: accent,
    [`--rw-on-accent-${mode}`]: textOn(accent),
    [`--rw-accent-text-${mode}`]: readableOn(grounds[mode], accent)
  }
}

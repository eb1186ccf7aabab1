/** Light, dark or as the system is set. */
export type Mode = 'light' | 'dark' | 'system'

/** A look by the vendor or a session. */
export interface ThemeHint {
  accent?: { light?: string, dark?: string }
  /** Of boxes and buttons, for example `8px`. */
  radius?: string
  /** A list of families. */
  font?: string
  mode?: Mode
}

const modes: readonly string[] = ['light', 'dark', 'system']

/** Reads the look from the fragment of a session. Ignores values that are not plain colours, lengths and names: anybody can write a link. */
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

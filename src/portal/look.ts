import {
  assertOption, type OptionsOf, type Readers, type SettingsOf, choice, assertObject, optional, readOptions
} from '../shared/read-options.js'
import { omitUndefined } from '../shared/fields.js'
import { contrastOf, lightenOn } from './contrast.js'

/** The doc, type, default and check of each option. */
const themeOptions = {
  /**
   * The colour of links and buttons, `#rrggbb`, or one for each mode: `{ light: '#rrggbb', dark: '#rrggbb' }`. Its
   * contrast must be at least 4.5:1 on the light surface, `#ffffff`, or on the dark one, `#16181d`. A single colour
   * is for the light mode; the dark one gets a tint of it.
   * @default blue
   */
  accent: optional(readAccent),
  /**
   * The radius of corners in CSS pixels, 0 to 24.
   * @default 8
   */
  radius: optional(readRadius),
  /**
   * The typeface: a `font-family` of CSS, such as `Inter, "Segoe UI", sans-serif`, of at most 200 characters.
   * @default the system's
   */
  font: optional(readFont),
  /**
   * `light`, `dark`, or `system` to follow the user's system.
   * @default 'system'
   */
  mode: optional(choice(['light', 'dark', 'system']))
}

/** The look of the portal. */
export interface PortalTheme extends OptionsOf<typeof themeOptions> {}

/** A checked look; absent parts keep the default of the page. */
export interface ThemeSettings extends Partial<SettingsOf<typeof themeOptions>> {}

const surfaces = { light: '#ffffff', dark: '#16181d' }
const minimumContrast = 4.5

/** Returns the look as the page takes it. Throws `invalid_option`. */
export function readTheme (value: PortalTheme = {}, path: string): ThemeSettings {
  return omitUndefined(readOptions(value, themeOptions, path))
}

const accentReaders = {
  light: (value, path) => readColour(value, path, 'light'),
  dark: (value, path) => readColour(value, path, 'dark')
} satisfies Readers<Record<keyof typeof surfaces, string>>

function readAccent (
  value: string | { light: string; dark: string } | undefined,
  path: string
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
    contrast >= minimumContrast,
    path,
    `a colour with a contrast of at least ${minimumContrast}:1 on ${surfaces[mode]}`,
    found
  )
  return value.toLowerCase()
}

function readRadius (value: number | undefined, path: string): string {
  assertOption(typeof value === 'number' && value >= 0 && value <= 24, path, 'a number from 0 to 24', value)
  return `${value}px`
}

const family = /("[\w -]+"|'[\w -]+'|-?[A-Za-z][\w-]*( [\w-]+)*)/
const families = new RegExp(`^${family.source}( ?, ?${family.source})*$`)

function readFont (value: string | undefined, path: string): string {
  const isFont = typeof value === 'string' && value.length <= 200 && families.test(value)
  assertOption(isFont, path, 'a list of typefaces such as Inter, "Segoe UI", sans-serif', value)
  return value
}

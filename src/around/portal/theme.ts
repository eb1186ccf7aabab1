/** The look that the vendor or a session chose. */
export interface ThemeHint {
  accent?: { light?: string, dark?: string }
  /** The radius of boxes and buttons, for example `8px`. */
  radius?: string
  /** A list of font families. */
  font?: string
  /** Light, dark or the system's setting. */
  mode?: 'light' | 'dark' | 'system'
}

/** The backgrounds in style.css on which an accent has the least contrast: --hover. */
const grounds = { light: '#f6f7f9', dark: '#22262e' } as const

/** Returns the custom properties of a look. The session's look overrides the vendor's. */
export function themeProperties (vendor: ThemeHint, session: ThemeHint): Record<string, string> {
  const { radius, font } = { ...vendor, ...session }
  const { light, dark } = { ...vendor.accent, ...session.accent }
  return {
    ...(radius !== undefined && { '--rw-radius': radius }),
    ...(font !== undefined && { '--rw-font': font }),
    ...(light !== undefined && accentProperties('light', light)),
    ...(dark !== undefined && accentProperties('dark', dark))
  }
}

function accentProperties (mode: 'light' | 'dark', accent: string): Record<string, string> {
  return {
    [`--rw-accent-${mode}`]: accent,
    [`--rw-on-accent-${mode}`]: textOn(accent),
    [`--rw-accent-text-${mode}`]: readableOn(grounds[mode], accent)
  }
}

/** A colour: red, green and blue, 0 to 255. */
type Rgb = readonly number[]

/** The minimum contrast of text (WCAG 2.2, level AA). */
const minimumContrast = 4.5

/** Returns the contrast of two colours `#rrggbb`, from 1 to 21 (WCAG 2.2). */
export function contrastOf (one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminanceOf(parse(one)), luminanceOf(parse(other))].sort((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

/** Returns black or white, whichever is easier to read on `background`, a colour `#rrggbb`. */
export function textOn (background: string): '#000000' | '#ffffff' {
  return contrastOf(background, '#ffffff') >= contrastOf(background, '#000000') ? '#ffffff' : '#000000'
}

/** Returns the colour, moved towards black or white until text on `background` has enough contrast. */
export function readableOn (background: string, colour: string): string {
  return mixOn(background, colour, textOn(background), minimumContrast, 20)
}

/** Returns the colour, mixed with enough white for a contrast of `minimum` on a dark surface. */
export function lightenOn (surface: string, colour: string, minimum: number): string {
  return mixOn(surface, colour, '#ffffff', minimum, 100)
}

/** Moves a colour towards another one in steps, until its contrast on `background` is at least `minimum`. */
function mixOn (background: string, from: string, to: string, minimum: number, steps: number): string {
  const end = parse(to)
  for (let step = 0; step < steps; step++) {
    const mixed = format(parse(from).map((part, index) => part + (((end[index] ?? part) - part) * step) / steps))
    if (contrastOf(mixed, background) >= minimum) return mixed
  }
  return to
}

function luminanceOf (colour: Rgb): number {
  const [red = 0, green = 0, blue = 0] = colour.map((part) => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function parse (colour: string): Rgb {
  return [1, 3, 5].map((start) => Number.parseInt(colour.slice(start, start + 2), 16))
}

function format (colour: Rgb): string {
  return `#${colour.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`
}

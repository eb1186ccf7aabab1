type Rgb = readonly [number, number, number]

const black: Rgb = [0, 0, 0]
const white: Rgb = [255, 255, 255]

/** The contrast that WCAG asks of text (AA). */
const enough = 4.5

/** Returns black or white: the one that is easier to read on `background`, a colour `#rrggbb`. */
export function textOn (background: string): '#000000' | '#ffffff' {
  const colour = parse(background)
  return contrast(colour, white) >= contrast(colour, black) ? '#ffffff' : '#000000'
}

/** Returns the colour, moved towards black or white as far as text on `background` needs it. One of them always has enough contrast. */
export function readableOn (background: string, colour: string): string {
  const ground = parse(background)
  const end = parse(textOn(background))
  const at = (step: number) => mix(parse(colour), end, step / 20)
  let step = 0
  while (contrast(at(step), ground) < enough) step++
  return format(at(step))
}

/** Returns the contrast of two colours `#rrggbb`, 1 to 21 (WCAG 2.2). */
export function contrastOf (first: string, second: string): number {
  return contrast(parse(first), parse(second))
}

function contrast (first: Rgb, second: Rgb): number {
  const values = [luminance(first), luminance(second)]
  return (Math.max(...values) + 0.05) / (Math.min(...values) + 0.05)
}

function luminance ([red, green, blue]: Rgb): number {
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

function linear (value: number): number {
  const part = value / 255
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
}

function mix (from: Rgb, to: Rgb, share: number): Rgb {
  const part = (index: 0 | 1 | 2) => Math.round(from[index] + (to[index] - from[index]) * share)
  return [part(0), part(1), part(2)]
}

function parse (colour: string): Rgb {
  const value = Number.parseInt(colour.slice(1), 16)
  return [value >> 16 & 255, value >> 8 & 255, value & 255]
}

function format (colour: Rgb): string {
  return `#${colour.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}

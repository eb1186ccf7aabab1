/** A colour: red, green and blue, 0 to 255. */
type Rgb = readonly number[]

/** Returns the contrast of two colours `#rrggbb`, from 1 to 21 (WCAG 2.2). */
export function contrastOf (one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminanceOf(parse(one)), luminanceOf(parse(other))].sort((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

/** Returns the colour, mixed with as much white as it needs for a contrast of `minimum` on a dark surface. */
export function lightenOn (surface: string, colour: string, minimum: number): string {
  const steps = Array.from({ length: 101 }, (_, percent) =>
    format(parse(colour).map((part) => part + ((255 - part) * percent) / 100))
  )
  const [tint = '#ffffff'] = steps.filter((step) => contrastOf(step, surface) >= minimum)
  return tint
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

/** The minimum contrast of text (WCAG 2.2, level AA). */
const minimumContrast = 4.5

/** Returns black or white, whichever is easier to read on `background`, a colour `#rrggbb`. */
export function textOn (background: string): '#000000' | '#ffffff' {
  return contrastOf(background, '#ffffff') >= contrastOf(background, '#000000') ? '#ffffff' : '#000000'
}

/** Returns the colour, moved towards black or white until text on `background` has enough contrast. */
export function readableOn (background: string, colour: string): string {
  const end = textOn(background)
  let share = 0
  // One of the two ends always has enough contrast.
  while (contrastOf(mix(colour, end, share), background) < minimumContrast) share += 0.05
  return mix(colour, end, share)
}

function mix (from: string, to: string, share: number): string {
  const parts = [1, 3, 5].map((start) => {
    const [first, last] = [from, to].map((colour) => Number.parseInt(colour.slice(start, start + 2), 16)) as [
      number,
      number
    ]
    return Math.round(first + (last - first) * Math.min(share, 1)).toString(16).padStart(2, '0')
  })
  return `#${parts.join('')}`
}

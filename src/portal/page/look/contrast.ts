import { contrastOf } from '../../contrast.js'

/** The contrast that WCAG asks of text (AA). */
const enough = 4.5

/** Returns black or white: the one that is easier to read on `background`, a colour `#rrggbb`. */
export function textOn (background: string): '#000000' | '#ffffff' {
  return contrastOf(background, '#ffffff') >= contrastOf(background, '#000000') ? '#ffffff' : '#000000'
}

/** Returns the colour, moved towards black or white as far as text on `background` needs it. */
export function readableOn (background: string, colour: string): string {
  const end = textOn(background)
  let share = 0
  // One of the two ends always has enough contrast.
  while (contrastOf(mix(colour, end, share), background) < enough) share += 0.05
  return mix(colour, end, share)
}

function mix (from: string, to: string, share: number): string {
  const parts = [1, 3, 5].map((start) => {
    const [first, last] = [from, to].map((colour) => Number.parseInt(colour.slice(start, start + 2), 16)) as [number, number]
    return Math.round(first + (last - first) * Math.min(share, 1)).toString(16).padStart(2, '0')
  })
  return `#${parts.join('')}`
}

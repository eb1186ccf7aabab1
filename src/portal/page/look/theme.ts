import { readableOn, textOn } from './contrast.js'
import type { ThemeHint } from './theme-hint.js'

/** Of the backgrounds in styles/tokens.css, those with the least contrast to the accent as text: --hover. */
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

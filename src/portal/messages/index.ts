import { de } from './de.js'
import { en } from './en.js'
import { es } from './es.js'
import { fr } from './fr.js'
import { nl } from './nl.js'
import { pt } from './pt.js'
import type { PortalMessages } from './types.js'

/** The texts of all languages that the portal brings, by locale. */
export const languages = { en, de, fr, es, nl, pt } satisfies Record<string, PortalMessages>

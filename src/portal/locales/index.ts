import type { PortalMessages } from '../messages.js'
import de from './de.json' with { type: 'json' }
import { en } from './en.js'
import es from './es.json' with { type: 'json' }
import fr from './fr.json' with { type: 'json' }
import nl from './nl.json' with { type: 'json' }
import pt from './pt.json' with { type: 'json' }

/** The built-in texts, by locale. */
export const languages = { en, de, fr, es, nl, pt } satisfies Record<string, PortalMessages>

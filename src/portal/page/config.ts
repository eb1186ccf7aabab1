import type { PortalMessages } from '../messages/types.js'
import type { ThemeHint } from './look/theme-hint.js'

/** The configuration that the server passes, in the attribute `config` or by `define`. */
export interface PageConfig {
  /** Name of the style sheet, beside the script. */
  style: string
  /** The vendor's look. A session can override it. */
  theme: ThemeHint
  /** All languages but English, which is in the script, and replacements of its texts, by locale. */
  messages: Record<string, PortalMessages>
  /** Exact origins that may embed the page and renew its session. `'self'` is the page's own. */
  origins: string[]
}

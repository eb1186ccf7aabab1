import type { PortalMessages } from './messages/types.js'
import type { ThemeSettings } from './theme.js'

/** The settings of the portal: checked options with their defaults. */
export interface PortalSettings {
  /** The first seals, all of them open. */
  secretKeys: readonly Uint8Array[]
  /** Sources of a policy: origins such as `https://ats.example`, and `'self'` with its quotes. */
  frameAncestors: readonly string[]
  /** Precedes the path of the portal; may be empty. */
  baseUrl: string
  theme: ThemeSettings
  /** By locale. */
  messages: Record<string, PortalMessages>
}

import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Api } from '../api/api.js'
import type { Navigation } from '../route/use-route.js'
import type { LogPlace } from '../screens/log/place.js'
import type { Capability } from '../session/fragment.js'
import type { Format } from '../text/format.js'

/** Everything that screens and parts share. */
export interface Portal extends Navigation {
  api: Api
  format: Format
  /** Whether the session may do this. Screens leave out what it may not do. */
  can (capability: Capability): boolean
  /** Tells a screen reader what happened, without moving the focus. */
  announce (text: string): void
  /** The title of the screen: gets the focus when what had it is gone. */
  title: { current: HTMLHeadingElement | null }
  /** Screens entered so far. */
  visits: { current: number }
  /** When the previous secrets of webhooks end that were rotated here, by the webhook's id; `null` if it was at once. */
  graceEnds: Map<number, string | null>
  /** The place in the log when one of its deliveries was opened. */
  logPlace: { current: LogPlace | null }
  /** The vendor's page, to leave the portal or to get a new session. */
  returnUrl: string | null
}

export const PortalContext = createContext<Portal | null>(null)

export function usePortal (): Portal {
  const portal = useContext(PortalContext)
  if (portal === null) throw new Error('outside the portal')
  return portal
}

/** The texts and formats of the page's language: `const { messages, text, plural } = useFormat()`. */
export function useFormat (): Format {
  return usePortal().format
}

/** Returns whether the session may do this. */
export function useCan (capability: Capability): boolean {
  return usePortal().can(capability)
}

import type { Clock } from '../ports/index.js'
import { refuse } from '../shared/expect.js'
import { createSessionBox } from './session.js'
import { type PortalSessionInput, type SessionRequest, readSessionInput } from './session-input.js'
import type { PortalSettings } from './settings.js'

/** Lets the people of a tenant into the portal. */
export interface RecruitingPortal {
  /**
   * Creates a session of the portal for a person whom you have signed in. Nothing is stored. Throws `invalid_input`, whose
   * `field` names the wrong one, and `invalid_option` without the option `portal`.
   */
  createSession (session: PortalSessionInput): Promise<PortalSession>
}

/** A session of the portal. */
export interface PortalSession {
  /** The address of the portal with the session in its fragment: open or embed it at once, and store it nowhere. */
  url: string
  /** The token, which the API accepts in the place of an API key. */
  token: string
  /** When the session ends, as an RFC 3339 date-time. */
  expiresAt: string
}

/** Creates `app.recruiting.portal` for an API with this prefix. Without settings its calls are refused. */
export function createPortal (settings: PortalSettings | null, prefix: string, clock: Pick<Clock, 'now'>): RecruitingPortal {
  if (settings === null) return { createSession: async () => refuse('portal', 'the option to be set', undefined) }
  const box = createSessionBox(settings.secretKeys, clock)
  const address = `${settings.baseUrl}${prefix}/portal/`
  return {
    async createSession (input) {
      const request = readSessionInput(input)
      const issuedAt = clock.now()
      const expiresAt = issuedAt + request.expiresInSeconds * 1000
      const token = box.seal(request.tenantSlug, { ...request, issuedAt, expiresAt })
      const session = { token, expiresAt: new Date(expiresAt).toISOString() }
      return { url: `${address}#${formatFragment(request, session)}`, ...session }
    }
  }
}

/** The fragment never leaves the browser, so the token reaches no log and no `Referer`. All the rest are hints for the page. */
function formatFragment (request: SessionRequest, { token, expiresAt }: Omit<PortalSession, 'url'>): string {
  const { tenantSlug, capabilities, locale, theme: { mode, accent, radius, font }, returnUrl } = request
  const fields = new URLSearchParams({ token, tenant: tenantSlug, expires_at: expiresAt, capabilities: capabilities.join() })
  const hints = { locale, mode, accent_light: accent?.light, accent_dark: accent?.dark, radius, font, return_url: returnUrl }
  for (const [name, value] of Object.entries(hints)) if (value !== undefined) fields.append(name, value)
  return fields.toString()
}

import type { Portal } from '../http/sessions.js'
import type { Clock } from '../ports/index.js'
import { readAssets } from './assets.js'
import { portalRoutes } from './routes.js'
import { createSecurityHeaders } from './security-headers.js'
import { createSessionBox } from './session.js'
import type { PortalSettings } from './settings.js'

/** Returns the parts of the portal that the API takes in. Throws `invalid_option` if its page was not built. */
export async function buildPortal (settings: PortalSettings, clock: Pick<Clock, 'now'>): Promise<Portal> {
  const files = await readAssets(settings)
  return {
    sessions: createSessionBox(settings.secretKeys, clock),
    pages: portalRoutes(files, createSecurityHeaders(settings.frameAncestors))
  }
}

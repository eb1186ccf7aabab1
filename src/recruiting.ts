import type { RecruitingPortal } from './around/portal/session.js'
import type { EventCatalogue, RegisteredEvents } from './core/api/catalogue.js'
import type { RecruitingHealth } from './core/webhooks/diagnostics.js'
import type { EngineCalls } from './core/webhooks/recruiting.js'

/** `app.recruiting`. */
export interface Recruiting<Events extends EventCatalogue = EventCatalogue> extends EngineCalls<Events> {
  /** Creates portal sessions for the users of a tenant: `createSession({ tenantSlug, actor, … })`. */
  portal: RecruitingPortal
  /** Returns whether this process is healthy, for a health check. Never rejects, and can be called after `close`. */
  health (): Promise<RecruitingHealth>
}

/** `app.recruiting` with the registered events. */
export interface RegisteredRecruiting extends Recruiting<RegisteredEvents> {
  /** All scopes that keys can have: those of the API and, once the plugin is registered, of your own routes. */
  scopes: readonly string[]
}

/** An engine without an HTTP server. */
export interface StandaloneRecruiting<Events extends EventCatalogue = RegisteredEvents> extends Recruiting<Events> {
  /** Stops claiming, waits for attempts in flight, and releases all other leases. Can be called again. */
  close (): Promise<void>
}

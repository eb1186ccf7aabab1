import type { RecruitingPortal } from './portal/session.js'
import type { EventCatalogue } from './webhooks/events/catalogue.js'
import type { EngineCalls } from './webhooks/recruiting.js'
import type { RegisteredEvents } from './webhooks/events/catalogue.js'

/** `app.recruiting`. */
export interface Recruiting<Events extends EventCatalogue = EventCatalogue> extends EngineCalls<Events> {
  /** Creates portal sessions for the users of a tenant: `createSession({ tenantSlug, actor, … })`. */
  portal: RecruitingPortal
}

/** `app.recruiting` with the registered events. */
export interface RegisteredRecruiting extends Recruiting<RegisteredEvents> {
  /** All scopes that keys can have: those of the API and of your own routes, once the plugin is registered. */
  scopes: readonly string[]
}

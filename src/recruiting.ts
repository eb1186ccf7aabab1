import type { RecruitingPortal } from './portal/create-portal.js'
import type { EventCatalogue } from './webhooks/events/catalogue.js'
import type { EngineCalls, RegisteredEvents } from './webhooks/recruiting.js'

/** `app.recruiting`. */
export interface Recruiting<Events extends EventCatalogue = EventCatalogue> extends EngineCalls<Events> {
  /** Lets the people of a tenant into the portal: `createSession({ tenantSlug, actor, … })`. */
  portal: RecruitingPortal
}

/** `app.recruiting` with the registered events. */
export type RegisteredRecruiting = Recruiting<RegisteredEvents>

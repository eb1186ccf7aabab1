import type { EventCatalogue, defaultEvents } from './webhooks/events.js'
import type { Recruiting } from './webhooks/recruiting.js'

/**
 * Tells the types what this host's events are, where it has its own:
 * `declare module 'fastify-recruiting-api' { interface Register { events: typeof events } }`
 */
export interface Register {}

type RegisteredEvents = Register extends { events: infer Events extends EventCatalogue } ? Events : typeof defaultEvents

/** `app.recruiting`, with the host's events. */
export type RegisteredRecruiting = Recruiting<RegisteredEvents>

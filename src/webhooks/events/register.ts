import type { DefaultEvents, EventCatalogue } from './catalogue.js'
import type { Recruiting } from '../recruiting.js'

/**
 * Names the catalogue of a host with events of its own, so that the compiler checks the option `events` of the plugin and
 * every `app.recruiting.emit`:
 * `declare module 'fastify-recruiting-api' { interface Register { events: typeof events } }`
 */
export interface Register {}

/** The catalogue that `Register` names, or the default one. */
export type RegisteredEvents = Register extends { events: infer Events extends EventCatalogue } ? Events : DefaultEvents

/** `app.recruiting`, with the host's events. */
export type RegisteredRecruiting = Recruiting<RegisteredEvents>

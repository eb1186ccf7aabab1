/**
 * The ports: what a host supplies, as interfaces without bodies. Each comment is the specification of its method.
 *
 * - **tenant**: a customer of the vendor, named by its slug. First argument of whatever is done for one tenant.
 * - **webhook** (or endpoint): an address of a tenant, and the event types it subscribes to.
 * - **event**: something that happened in the ATS, recorded once by `emit`, with the exact bytes that are sent.
 * - **delivery**: one event on its way to one webhook. A replay makes a new delivery of the same event.
 * - **attempt**: one request made for a delivery.
 * - **claim**, **lease**, **fence**: a worker takes a due delivery for a time, the lease. The fence is a number that
 *   grows with every claim, by which a storage tells the worker that holds the lease from one that lost it.
 *
 * Resources cross the ports with the field names of the wire; arguments are camelCase. Absence is `null`. Dates are
 * RFC 3339 strings in UTC with milliseconds. Lengths of time are numbers whose names end in their unit; a storage adds
 * them to its own clock, so that the clocks of the processes need not agree. What is handed in or out belongs to the
 * caller: changing it afterwards changes nothing that is stored.
 */
export type * from './key-lookup.js'
export type * from './list-source.js'
export type * from './candidate-source.js'
export type * from './job-source.js'
export type * from './webhook-store.js'
export type * from './delivery.js'
export type * from './health.js'
export type * from './delivery-store.js'
export type * from './storage.js'
export type * from './clock.js'

import { randomBytes } from 'node:crypto'
import type { EndReason } from '../ports/index.js'
import { isObject, omitUndefined, readField } from './fields.js'

/*
 * The messages of the MCP extension `io.modelcontextprotocol/events` (SEP-3415). It is in Beta: where clients differ
 * from its text, this file follows the clients. No other file contains these shapes, and no storage stores them.
 *
 * - Capability: ChatGPT and the AI SDK read `events`, which is not in the text.
 * - Error codes: those of the design sketch, which clients and the official conformance suite use. The text asks for
 *   -32023 to -32027 in the same order, provisionally.
 */

/** The capability of a server. */
export const eventsCapability = { events: {}, extensions: { 'io.modelcontextprotocol/events': {} } }

/** The errors of the extension, with their codes. */
export const eventsErrors = {
  InvalidParams: -32602,
  NotFound: -32011,
  Forbidden: -32012,
  ResourceExhausted: -32013,
  Unsupported: -32014,
  CallbackEndpointError: -32015
}

/** A request of the extension that fails. */
export class EventsFault extends Error {
  readonly code: keyof typeof eventsErrors
  readonly data: object | undefined

  constructor (code: EventsFault['code'], message: string = code, data?: object) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** Carries the id of a subscription in each request to its callback. */
export const subscriptionHeader = 'x-mcp-subscription-id'

/** Formats a stored event; `null` if it was erased. A callback also gets the `cursor` of its subscription. */
export function formatOccurrence (event: unknown, cursor?: string): object | null {
  const data = readField(event, 'data')
  if (!isObject(data)) return null
  const [eventId, name, timestamp] = ['id', 'type', 'timestamp'].map((field) => readField(event, field))
  return { eventId, name, timestamp, data, ...cursor === undefined ? {} : { cursor } }
}

/** Control messages: the bodies of requests to a callback other than events. */
export type EventsControl =
  /** The callback returns the challenge to confirm its address. */
  | { type: 'verification', challenge: string }
  /** Events were lost; delivery continues at the cursor. */
  | { type: 'gap', cursor: string }
  /** The subscription has ended. */
  | { type: 'terminated', error: { code: number, message: string, data: object } }

/** Returns a new `webhook-id` for a control message. */
export function createControlId ({ type }: EventsControl): string {
  return `msg_${type}_${randomBytes(16).toString('hex')}`
}

/** Returns the last message to a callback, with the reason for the end of its subscription. */
export function describeEnd (reason: EndReason): EventsControl {
  const kind = { expired: 'subscription', removed: 'event' }[String(reason)]
  const message = kind === undefined ? 'Forbidden' : 'NotFound'
  return { type: 'terminated', error: { code: eventsErrors[message], message, data: omitUndefined({ reason, kind }) } }
}

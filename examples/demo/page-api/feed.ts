import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { AttemptMessage, RetryMessage } from 'fastify-recruiting-api'
import type { Print } from '../console.js'

/** What came in at the receiver. */
export interface Arrival {
  kind: 'arrival'
  /** The path of the receiver, such as `acme`. */
  path: string
  eventId: string
  eventType: string
  isTest: boolean
  isVerified: boolean
  /** Why it is not. */
  reason: string
  /** How many signatures it carried: two while a rotated secret lasts. */
  signatures: number
  /** Whether the receiver has handled this event before. */
  isKnown: boolean
  /** What the receiver answered with. */
  status: number
  body: string
}

/** How an attempt ended, as the sender sees it. */
export interface Attempt extends AttemptMessage {
  kind: 'attempt'
  outcome: 'delivered' | 'retry' | 'failed'
  /** Until the next one, in milliseconds; 0 for none. */
  retryInMs: number
}

/** What has happened in the ATS, in a sentence. */
export interface News {
  kind: 'news'
  tenantSlug: string
  sentence: string
}

/** The receiver fails until then, in milliseconds since the epoch. */
export interface Outage {
  kind: 'outage'
  untilMs: number
}

export type Message = Arrival | Attempt | News | Outage
export type TimedMessage = Message & { number: number, atMs: number }

const keptMessages = 400

/** What the page is told of, as it happens. */
export class Feed {
  /** The latest messages, for a page that is opened now. */
  readonly recent: TimedMessage[] = []
  readonly #listeners = new Set<(message: TimedMessage) => void>()
  #count = 0

  publish (message: Message): void {
    this.#count += 1
    const timed = { ...message, number: this.#count, atMs: Date.now() }
    this.recent.push(timed)
    if (this.recent.length > keptMessages) this.recent.shift()
    for (const listener of this.#listeners) listener(timed)
  }

  /** Returns what ends it. */
  listen (listener: (message: TimedMessage) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Prints, and tells the page what the ATS says of a tenant. */
  alsoTelling (print: Print): Print {
    return (who, tenantSlug, text) => {
      print(who, tenantSlug, text)
      if (who === 'ats' && tenantSlug !== '') this.publish({ kind: 'news', tenantSlug, sentence: text })
    }
  }

  /** Attempts as the plugin tells of them, to whoever subscribes: no code of the host is in between. Returns what ends it. */
  watchAttempts (): () => void {
    const watched: Array<[name: string, listener: (message: unknown) => void]> = [
      ['attempt', (message) => {
        const attempt = message as AttemptMessage
        if (attempt.error === null) this.publish({ kind: 'attempt', outcome: 'delivered', retryInMs: 0, ...attempt })
      }],
      ['retry', (message) => this.publish({ kind: 'attempt', outcome: 'retry', ...message as RetryMessage })],
      ['give-up', (message) => this.publish({ kind: 'attempt', outcome: 'failed', retryInMs: 0, ...message as AttemptMessage })]
    ]
    for (const [name, listener] of watched) subscribe(`fastify-recruiting-api:${name}`, listener)
    return () => { for (const [name, listener] of watched) unsubscribe(`fastify-recruiting-api:${name}`, listener) }
  }
}

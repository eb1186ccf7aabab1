import type { AttemptMessage, DisableMessage } from 'fastify-recruiting-api'
import type { Mode } from '../receiver/receiver.js'
import type { Arrival } from '../receiver/request.js'

/** An attempt, as the sender reports it, with the request, as the receiver reports it. */
export interface AttemptEntry extends AttemptMessage {
  kind: 'attempt'
  outcome: 'delivered' | 'retry' | 'failed'
  /** Milliseconds until the next attempt; 0 for none. */
  retryInMs: number
  /** `null` if no request reached the receiver. */
  arrival: Arrival | null
}

/** A request that is not an attempt of a delivery: a test or a forged request. */
export interface ArrivalEntry extends Arrival {
  kind: 'arrival'
}

/** A sentence about a change in the ATS. */
export interface NewsEntry {
  kind: 'news'
  tenantSlug: string
  sentence: string
  isBackground: boolean
}

/** The service has disabled a webhook. */
export interface DisableEntry extends Pick<DisableMessage, 'tenantSlug' | 'webhookId' | 'lastResponseStatus'> {
  kind: 'disable'
}

/** The position of every switch on the page. */
export interface StateEntry {
  kind: 'state'
  modes: Record<string, Mode>
  isPaused: boolean
}

export type Entry = AttemptEntry | ArrivalEntry | NewsEntry | DisableEntry | StateEntry
export type NumberedEntry = Entry & { number: number, atMs: number }

const keptEntries = 400

/** Everything that the page shows besides responses of the API, in order. */
export class Feed {
  /** The latest entries, for a page that connects now. */
  readonly recent: NumberedEntry[] = []
  readonly #listeners = new Set<(entry: NumberedEntry) => void>()
  readonly #unmatched = new Map<string, Arrival>()
  #count = 0

  publish (entry: Entry): void {
    this.#count += 1
    const numbered = { ...entry, number: this.#count, atMs: Date.now() }
    this.recent.push(numbered)
    if (this.recent.length > keptEntries) this.recent.shift()
    for (const listener of this.#listeners) listener(numbered)
  }

  /** Keeps the request of a delivery until the sender reports the attempt; publishes any other request at once. */
  publishArrival (arrival: Arrival): void {
    if (arrival.isTest || !arrival.isVerified) this.publish({ kind: 'arrival', ...arrival })
    else this.#unmatched.set(`${arrival.webhookId} ${arrival.eventId}`, arrival)
  }

  publishAttempt (attempt: Omit<AttemptEntry, 'kind' | 'arrival'>): void {
    const key = `${attempt.webhookId} ${attempt.eventId}`
    this.publish({ kind: 'attempt', ...attempt, arrival: this.#unmatched.get(key) ?? null })
    this.#unmatched.delete(key)
  }

  /** Calls the listener with every new entry; returns a function that removes it. */
  listen (listener: (entry: NumberedEntry) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

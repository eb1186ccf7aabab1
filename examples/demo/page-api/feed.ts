import type { Mode } from '../receiver/receiver.js'
import type { Arrival } from '../receiver/request.js'

/** A request to the receiver. */
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

/** The state of the page's switches. */
export interface StateEntry {
  kind: 'state'
  modes: Record<string, Mode>
  isPaused: boolean
}

export type Entry = ArrivalEntry | NewsEntry | StateEntry
export type NumberedEntry = Entry & { number: number, atMs: number }

const keptEntries = 400

/** Everything that the page shows besides API responses, in order. */
export class Feed {
  /** The latest entries, for a new connection. */
  readonly recent: NumberedEntry[] = []
  readonly #listeners = new Set<(entry: NumberedEntry) => void>()
  #count = 0

  publish (entry: Entry): void {
    this.#count += 1
    const numbered = { ...entry, number: this.#count, atMs: Date.now() }
    this.recent.push(numbered)
    if (this.recent.length > keptEntries) this.recent.shift()
    for (const listener of this.#listeners) listener(numbered)
  }

  /** Calls the listener with every new entry; returns a function that removes the listener. */
  listen (listener: (entry: NumberedEntry) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

import type { HeldBack } from './change-source.js'

/** One page of the feed of a tenant. */
export interface FeedPage {
  /** The JSON texts of the events as they are signed. Once the subject of an event was erased, its tombstone. */
  bodies: string[]
  /**
   * The position after the last of these, at most 200 characters. It may be further ahead if no requested event is in
   * between.
   */
  position: string
  /** Whether more can be read now. */
  hasMore: boolean
}

/** Selects a page of the feed. */
export interface FeedQuery {
  /** The position after which the page begins; `null` for the oldest event that is kept. */
  after: string | null
  /** Maximum number of events, from 1. */
  limit: number
  /** Only events of these types; `null` for all. */
  eventTypes: readonly string[] | null
}

/**
 * Reads the recorded events of a tenant, in the order in which they were recorded (`deliveries.record`). An event
 * appears only after its transaction has committed, and never before a position that has already been returned. So
 * events wait for open transactions that recorded an earlier one.
 */
export interface EventFeed {
  /**
   * Returns the current position among the events of a tenant. Each event that commits later comes after this
   * position.
   */
  end (tenant: string): Promise<string>

  /**
   * Lists events of a tenant after a position, in order, each once. A page may have fewer events than `limit`
   * although more follow, so that each call reads a limited amount. Returns `null` if the position is no longer
   * known: events after it were pruned, the tenant was renamed or removed since, or it comes from another database.
   */
  list (tenant: string, query: FeedQuery): Promise<FeedPage | null>

  /**
   * Returns the newest events of a tenant with these types, newest first, at most `limit`. It may return fewer, so
   * that each call reads a limited amount.
   */
  latest (tenant: string, query: Omit<FeedQuery, 'after'>): Promise<string[]>

  /** Returns how far readers are behind. */
  stats (): Promise<HeldBack>

  /** Returns the secret that authenticates tokens: 32 bytes or more, the same for all processes. */
  tokenSecret (): Promise<Uint8Array>
}

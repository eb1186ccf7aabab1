import type { EventFilters } from './event-filters.js'

/**
 * A resource that sync follows: `candidate`, `job` or the kind of an own list, such as `application`. A letter from `a`
 * to `z`, then up to 31 of these letters, digits and `_`.
 */
export type ChangeKind = 'candidate' | 'job' | (string & Record<never, never>)

/** A candidate, job or item of an own list that was created, changed or deleted. */
export interface Change {
  kind: ChangeKind
  /** Its id as text, 1 to 64 characters. */
  id: string
  /** Whether it was deleted. A hint: readers check whether it exists. */
  deleted: boolean
}

/** One page of changes. */
export interface ChangePage {
  /** The ids of the changed rows, as text. An id can appear twice. */
  ids: string[]
  /**
   * The position after these changes, at most 100 characters. It can be further ahead if the tenant has no changes in
   * between.
   */
  position: string
  /** Whether more can be read now. */
  hasMore: boolean
}

/** How far readers of changes or events lag behind because of an open transaction that recorded one. */
export interface HeldBack {
  /** Milliseconds since the start of the oldest open transaction that hides later ones, from 1; 0 if none does. */
  heldBackMs: number
  /** The owner of that transaction, for the log, or `null`. In PostgreSQL with its process id: `pid 4711`. */
  heldBackBy: string | null
}

/** Changes or events that a trigger on a watched table failed to record. */
export interface MissedChanges {
  kind: ChangeKind
  /** With its schema. */
  table: string
  /** The type of the missing events; `null` for changes, without which `sync` returns 410. */
  eventType: string | null
  /** Time of the first failure. */
  since: string
  /** The first error. */
  problem: string
}

/**
 * Records which items of each kind changed, so that `sync` misses nothing. The storage decides the order of changes. A
 * change appears only after its transaction has committed, and never before a position that was already returned.
 */
export interface ChangeSource {
  /**
   * Returns the current position in the tenant's changes. The rows already show every committed change. Each change
   * that commits later comes after this position, even if its transaction began earlier.
   */
  begin (tenant: string, kind: ChangeKind): Promise<string>

  /**
   * Returns up to `limit` of the tenant's changes after a position, in order. Returns `null` if the position is not
   * valid: changes after it were pruned or may be missing, the tenant was renamed or removed since, or it comes from
   * another database. While changes of the kind are missing, no position is valid, not even that of `begin`, and `sync`
   * returns 410.
   */
  list (tenant: string, kind: ChangeKind, query: { after: string, limit: number }): Promise<ChangePage | null>

  /**
   * Records a change. With the host's `transaction`, readers see it once that commits. Never waits for another
   * transaction. A storage without transactions rejects any `transaction`.
   */
  record (tenant: string, change: Change, transaction?: unknown): Promise<void>

  /**
   * Returns whether the changes of a kind are recorded. If not, its `sync` does not exist. Called at startup and for
   * the first page of each sync. Without this method, all changes count as recorded.
   */
  isRecorded? (kind: ChangeKind): Promise<boolean>

  /** Returns the secret that authenticates tokens: 32 bytes or more, the same for all processes. */
  tokenSecret (): Promise<Uint8Array>

  /** Returns the changes and events that triggers failed to record, oldest first, at most 100. @default none */
  missed? (): Promise<MissedChanges[]>

  /** Deletes up to `limit` changes older than the retention. Returns their number. */
  prune (options: { retentionDays: number, limit: number }): Promise<number>

  /** Returns how far readers lag behind. */
  stats (): Promise<HeldBack>
}

/** One page of a tenant's feed. */
export interface FeedPage {
  /** The JSON of the events, as signed. After an event's subject was erased, its tombstone. */
  bodies: string[]
  /**
   * The position after these events, at most 100 characters. It can be further ahead if no requested event is in
   * between.
   */
  position: string
  /** Whether more can be read now. */
  hasMore: boolean
}

/** Selects a page of the feed. */
export interface FeedQuery {
  /** The position after which the page begins; `null` for the oldest stored event. */
  after: string | null
  /** Maximum number of events, from 1. */
  limit: number
  /** Only events of these types; `null` for all. */
  eventTypes: readonly string[] | null
  /** Only events whose bodies match; `null` for all. @default null */
  filters?: EventFilters | null
  /**
   * The page ends before the event whose body would exceed this size in bytes, but has at least one event.
   * @default the storage's own limit
   */
  maxBytes?: number
}

/**
 * Reads a tenant's events in the order in which `deliveries.record` recorded them. An event appears only after its
 * transaction has committed, and never before a position that was already returned. So events wait for open
 * transactions that recorded an earlier event.
 */
export interface EventFeed {
  /** Returns the current position in the tenant's events. Each event that commits later comes after this position. */
  end (tenant: string): Promise<string>

  /**
   * Returns the position before the tenant's first event recorded at `since` or later, by the storage's clock. If no
   * such event is stored, returns the current position. `since` is RFC 3339 in UTC with milliseconds. Each event that
   * commits later comes after this position. Never returns a position before the valid position `after`.
   */
  endBefore (tenant: string, since: string, after?: string): Promise<string>

  /**
   * Returns an event's body, as `list` does; `null` if the tenant has no stored event with this id. With `omitBody`,
   * returns `''` for the body, which is not read.
   */
  find (tenant: string, id: string, options?: { omitBody?: boolean }): Promise<string | null>

  /**
   * Returns the tenant's events after a position, in order, each once. A page can have fewer than `limit` events
   * although more follow, so that each call reads a limited amount. Returns `null` if the position is not valid: events
   * after it were pruned, the tenant was renamed or removed since, or it comes from another database.
   */
  list (tenant: string, query: FeedQuery): Promise<FeedPage | null>

  /**
   * Returns at most `limit` of the tenant's newest events of these types, newest first. It can return fewer, so that
   * each call reads a limited amount.
   */
  latest (tenant: string, query: Pick<FeedQuery, 'limit' | 'eventTypes'>): Promise<string[]>

  /** Returns how far readers lag behind. */
  stats (): Promise<HeldBack>

  /** Returns the secret that authenticates tokens: 32 bytes or more, the same for all processes. */
  tokenSecret (): Promise<Uint8Array>
}

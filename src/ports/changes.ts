/** A resource that sync follows. */
export type ChangeKind = 'candidate' | 'job'

/** A candidate or job that was created, changed or deleted. */
export interface Change {
  kind: ChangeKind
  /** Its id as text, 1 to 64 characters. */
  id: string
  /** Whether it was deleted. A hint: readers check whether it exists. */
  deleted: boolean
}

/** One page of changes. */
export interface ChangePage {
  /** The ids of what changed, as text. An id may come twice. */
  ids: string[]
  /**
   * The position after the last of these, at most 200 characters. It may be further ahead if the tenant has no
   * changes in between.
   */
  position: string
  /** Whether more can be read now. */
  hasMore: boolean
}

/** How far readers of changes or events are behind, because a transaction that recorded one is open. */
export interface HeldBack {
  /** Milliseconds since the oldest open transaction began that hides later ones; 0 if none does. */
  heldBackMs: number
  /** The owner of that transaction, for the log, or `null`. In PostgreSQL with its process, as `pid 4711`. */
  heldBackBy: string | null
}

/**
 * Remembers which candidates and jobs changed, so that `sync` misses nothing. The storage decides the order of
 * changes: a change appears no earlier than its transaction commits, and never before a position that was already
 * returned.
 */
export interface ChangeSource {
  /**
   * Returns the current position among the changes of a tenant. Everything committed so far can be read from the
   * rows; each change that commits later comes after this position, even if its transaction began earlier.
   */
  begin (tenant: string, kind: ChangeKind): Promise<string>

  /**
   * Lists up to `limit` changes of a tenant after a position, in order. Returns `null` if the position is no longer
   * known: changes after it were pruned or may be missing, the tenant was renamed or removed since, or it comes from
   * another database. While changes of the kind are missing, no position is known, not even that of `begin`: `sync`
   * answers 410.
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

  /** Deletes up to `limit` changes older than the retention. Returns their number. */
  prune (options: { retentionDays: number, limit: number }): Promise<number>

  /** Returns how far readers are behind. */
  stats (): Promise<HeldBack>
}

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
   * Returns a position among the events of a tenant: before the first one that was recorded at `since` or later, by the
   * storage's clock. `since` is RFC 3339 in UTC with milliseconds. If no such event is kept, the current position. Each
   * event that commits later comes after this position.
   */
  endBefore (tenant: string, since: string): Promise<string>

  /** Returns the body of an event, as `list` does; `null` if the tenant has no such event, or no longer. */
  find (tenant: string, id: string): Promise<string | null>

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

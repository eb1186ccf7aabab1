/** An id of a candidate, job, source or recruiter. Ids of webhooks and deliveries are always integers. */
export type Id = number | string

/** `integer`: 1 to 2^53-1. `string`: 1 to 64 visible ASCII characters without `/`, such as a uuid. */
export type IdKind = 'integer' | 'string'

/** The kind of each id that comes from the host; the option `ids`. */
export interface IdKinds {
  /** `id` of a candidate. */
  candidate: IdKind
  /** `id` of a job. */
  job: IdKind
  /** `source_id` of a candidate. */
  source: IdKind
  /** The recruiter of a candidate, in `filter[recruiter_id]`. */
  recruiter: IdKind
}

/** A customer of the vendor. */
export interface Tenant {
  /** Its name in paths, bodies, logs and metrics: 1 to 100 characters without control characters. It may change. */
  slug: string
  /** Identifies everything stored for the tenant: the result of the option `tenantId`; without it, the slug. */
  id: string
}

/** Who created an API key or a webhook. */
export interface Creator {
  /** `key`: an API key. `session`: a portal session. `code`: the vendor's code, or the command. */
  type: 'key' | 'session' | 'code'
  /** The id of the key, the actor of the session, or a name given by the vendor's code; `null` without one. */
  id: string | null
}

/** A tenant that rests, is suspended, or was renamed or removed in the last hour. */
export interface TenantState {
  /** The tenant's id; without the option `tenantId`, its slug. */
  tenantId: string
  /** When the name of a renamed or removed tenant can be used again; `null` if it does not rest. */
  restsUntil: string | null
  /** `null` if it is not suspended. */
  suspendedSince: string | null
  /** When its slug last changed or it was removed; `null` if that was more than an hour ago. Later at each change. */
  renamedAt: string | null
}

/** The worker's time, so that tests need not wait. */
export interface Clock {
  /** Returns milliseconds since the epoch. For times that are stored, sent or shown: this clock may be set back. */
  now (): number
  /**
   * Returns milliseconds since an arbitrary moment, like `performance.now()`. For waits and ages: it never goes back.
   */
  monotonic (): number
  /** Calls `callback` once after `delayMs`. Returns a handle for `clearTimeout`. */
  setTimeout (callback: () => void, delayMs: number): unknown
  /** Cancels a timeout. Does nothing if it has already fired. */
  clearTimeout (timer: unknown): void
}

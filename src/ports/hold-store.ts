/** Why nothing is sent from a storage. */
export interface Hold {
  /**
   * - `copy`: the data was restored from a dump, or copied from another database
   * - `environment`: the storage belongs to another environment than the process
   */
  reason: 'copy' | 'environment'
  /** When the hold was first noticed. */
  since: string
}

/** The result of `adopt`. */
export interface Adoption {
  /** Why nothing was sent before. */
  reason: Hold['reason']
  /** Number of deliveries that were pending. */
  pending: number
}

/**
 * Holds all notifications of a storage that is a copy, or that belongs to another environment, so that tests on
 * production's data reach no receiver. `environment` is the option `delivery.environment` of the process, or `null`.
 */
export interface HoldStore {
  /**
   * Returns why this process must not send notifications; `null` if it may. A process without an environment may send
   * in any environment.
   */
  find (environment: string | null): Promise<Hold | null>
  /**
   * Ends the hold of this process: the storage is no longer a copy, and belongs to `environment`; if that is `null`, to
   * the first environment that a later claim passes. With `discard`, pending deliveries become `skipped` and notices
   * are dropped; every webhook becomes `inactive` unless `keepWebhooks`, and every key that the storage keeps is
   * revoked unless `keepKeys`. All or nothing. Returns `null` and changes nothing if there is no hold.
   */
  adopt (options: AdoptOptions): Promise<Adoption | null>
}

/** Options of `adopt`. */
export interface AdoptOptions {
  /** That of the process. */
  environment: string | null
  pending: 'deliver' | 'discard'
  /**
   * Only with `discard`.
   * @default false
   */
  keepWebhooks?: boolean
  /**
   * Only with `discard`.
   * @default false
   */
  keepKeys?: boolean
}

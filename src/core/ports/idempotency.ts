/** A request with the header `Idempotency-Key`. */
export interface IdempotentRequest {
  /** SHA-256 of the API key's id and the header, as 64 hexadecimal digits. */
  digest: string
  /** SHA-256 of the operation and its input, as 64 hexadecimal digits. */
  fingerprint: string
  /** The unique id of this attempt. */
  claim: string
  /**
   * Whether the answer is stored in the transaction of the work (`AnswerToStore`). Without an answer, such a request
   * has changed nothing.
   */
  isAtomic: boolean
  /** How long the attempt counts as running, unless `renew` extends it. Ignored if `isAtomic`. */
  leaseMs: number
  /** How long the digest and its answer are stored. */
  keepMs: number
  /** Maximum number of digests that the tenant can have. A storage that estimates it may stop at a quarter. */
  maxDigests: number
}

/**
 * The result of a claim:
 * - `claimed`: this attempt has claimed the digest
 * - `answered`: the digest has an answer
 * - `running`: another attempt has claimed the digest
 * - `unknown`: another attempt has claimed the digest, and its lease has expired without an answer
 * - `full`: the tenant has `maxDigests`; `waitMs` is the time until it has fewer
 */
export type IdempotencyState =
  | { state: 'claimed' }
  | { state: 'answered', fingerprint: string, answer: string }
  | { state: 'running' | 'unknown', fingerprint: string }
  | { state: 'full', waitMs: number }

/** Stores the answers to requests with the header `Idempotency-Key`, so that they can be repeated. */
export interface IdempotencyStore extends StoresAnswers {
  /**
   * Claims the digest for this attempt if the tenant does not have it yet or if its `keepMs` have passed, and replaces
   * the claim of an earlier attempt without an answer if both are `isAtomic` with the same fingerprint. Of several
   * concurrent calls, at most one replaces a claim at a time. Otherwise changes nothing.
   */
  claim (tenant: string, request: IdempotentRequest): Promise<IdempotencyState>
  /** Extends the lease of an attempt. Does nothing if it has no claim or already an answer. */
  renew (tenant: string, attempt: Pick<IdempotentRequest, 'digest' | 'claim' | 'leaseMs'>): Promise<void>
  /**
   * Stores the answer of an attempt; `null` deletes the digest, so that the request can be sent again. Returns `false`
   * and does nothing if it already has an answer, if another attempt has claimed the digest, or if the tenant was
   * renamed or removed.
   */
  save (tenant: string, attempt: Pick<IdempotentRequest, 'digest' | 'claim'>, answer: string | null): Promise<boolean>
}

/** A store whose methods take an `AnswerToStore`. */
export interface StoresAnswers {
  /**
   * Identifies the database. The methods get an `AnswerToStore` only if `storage.idempotency.database` is the same
   * object.
   * @default methods get none
   */
  readonly database?: object
}

/**
 * The answer to a request with `Idempotency-Key`. A method that gets one stores it as `save` does, in the transaction
 * of its own work: both or neither. Rejects and changes nothing if another attempt has claimed the digest
 * (`idempotency_conflict`) and if `format` throws. Stores no answer if the method returns `null`.
 */
export interface AnswerToStore<Result> extends Pick<IdempotentRequest, 'digest' | 'claim'> {
  /** Formats the answer for the result that the method will return. */
  format (result: Result): string
}

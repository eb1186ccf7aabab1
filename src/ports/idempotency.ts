/** A request with the header `Idempotency-Key`. */
export interface IdempotentRequest {
  /** SHA-256 of the API key's id and the header, as 64 hexadecimal digits. */
  digest: string
  /** SHA-256 of the method, the URL and the body, as 64 hexadecimal digits. */
  fingerprint: string
  /** Names this attempt of the request; no other attempt has the same. */
  claim: string
  /** How long the attempt may take. Afterwards another one may claim the digest. */
  leaseMs: number
  /** How long the digest and its answer are kept. */
  keepMs: number
}

/** The stored state of a request. */
export interface IdempotencyState {
  /** Whether the digest is claimed for this attempt now. */
  isClaimed: boolean
  /** That of the request which claimed the digest last. */
  fingerprint: string
  /** What `save` stored; `null` while the request is running. */
  answer: string | null
}

/** Keeps the answers of requests with the header `Idempotency-Key`, so that they can be repeated. */
export interface IdempotencyStore {
  /**
   * Claims the digest for this attempt if the tenant has none like it, if it was kept long enough, or if its lease
   * ended without an answer. Of several concurrent calls, one claims it. Otherwise changes nothing.
   */
  claim (tenant: string, request: IdempotentRequest): Promise<IdempotencyState>
  /**
   * Stores the answer of an attempt; `null` forgets the digest, so that the request can be sent again. Does nothing if
   * another attempt has claimed the digest, or if the tenant was renamed or removed.
   */
  save (tenant: string, attempt: Pick<IdempotentRequest, 'digest' | 'claim'>, answer: string | null): Promise<void>
}

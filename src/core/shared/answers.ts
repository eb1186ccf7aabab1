import type { AnswerToStore } from '../ports/index.js'

/**
 * Returns the answer that a storage stores with the work of a request with `Idempotency-Key`. `show` converts what the
 * storage returns to the result of the operation.
 */
export type KeepAnswer = <Stored>(show: (stored: Stored) => unknown) => AnswerToStore<Stored>

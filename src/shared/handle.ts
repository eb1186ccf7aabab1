import { readField } from './fields.js'

/** Stores on a converted transaction the handle of the library that it was made from. */
export const kHandle = Symbol.for('fastify-recruiting-api.handle')

/**
 * Returns the library's own handle of a transaction that a function such as `fromKnex` has converted, or else the
 * transaction.
 */
export function handleOf (transaction: unknown): unknown {
  return readField(transaction, kHandle) ?? transaction
}

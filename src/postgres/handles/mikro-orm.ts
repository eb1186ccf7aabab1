import type { PgQueryable } from '../pool.js'
import { type KnexTransaction, fromKnex, isKnex } from './knex.js'
import { type KyselyTransaction, fromKysely, isKysely } from './kysely.js'
import { expectHandle, hasMethods } from './checks.js'

/** `EntityManager` of MikroORM, from `em.transactional`. */
export interface MikroOrmManager {
  getTransactionContext (): unknown
}

/** Returns whether a value is an `EntityManager` of MikroORM. */
export function isMikroOrm (value: unknown): boolean {
  return hasMethods(value, 'getTransactionContext', 'persist', 'flush')
}

/**
 * Converts an `EntityManager` of MikroORM for the option `transaction`. Throws `invalid_event`. Up to version 6 it
 * holds a transaction of Knex, later one of Kysely.
 */
export function fromMikroOrm (em: MikroOrmManager): PgQueryable {
  const context = isMikroOrm(em) ? em.getTransactionContext() : undefined
  if (isKysely(context)) return fromKysely(context as KyselyTransaction)
  expectHandle(isKnex(context), 'fromMikroOrm', 'the entity manager that em.transactional gives to its callback')
  return fromKnex(context as KnexTransaction)
}

import type { PgQueryable } from '../pool.js'
import { type KnexTransaction, fromKnex, isKnex } from './knex.js'
import { type KyselyTransaction, fromKysely, isKysely } from './kysely.js'
import { expectHandle, hasMethods } from './checks.js'

/** `EntityManager` of MikroORM, as `em.transactional` gives it. */
export interface MikroOrmManager {
  getTransactionContext (): unknown
}

/** Whether a value is an `EntityManager` of MikroORM. */
export function isMikroOrm (value: unknown): boolean {
  return hasMethods(value, 'getTransactionContext', 'persist', 'flush')
}

/**
 * Makes an `EntityManager` of MikroORM, which has a transaction, what `transaction` takes. Versions up to 6 keep a
 * transaction of Knex, later ones of Kysely. Throws `invalid_event`.
 */
export function fromMikroOrm (em: MikroOrmManager): PgQueryable {
  const context = isMikroOrm(em) ? em.getTransactionContext() : undefined
  if (isKysely(context)) return fromKysely(context as KyselyTransaction)
  expectHandle(isKnex(context), 'fromMikroOrm', 'the entity manager that em.transactional gives to its callback')
  return fromKnex(context as KnexTransaction)
}

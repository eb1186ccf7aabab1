import type knex from 'knex'
import { fromKnex } from '../../../src/storages/postgres/index.js'
import type { OpenStack, OpenTransaction } from '../stack.js'

/** With a hook that changes what statements return. */
export const openKnex: OpenStack = async (load, connection) => {
  const { default: createKnex } = await load('knex') as typeof knex
  const db = createKnex({ client: 'pg', connection, postProcessResponse: () => 'changed by the host' })
  const open = (trx: knex.Knex.Transaction): OpenTransaction => ({
    handle: trx,
    transaction: fromKnex(trx),
    run: (text) => trx.raw(text),
    nest: (work) => trx.transaction((inner) => work(open(inner)))
  })
  return { root: db, begin: (work) => db.transaction((trx) => work(open(trx))), end: () => db.destroy() }
}

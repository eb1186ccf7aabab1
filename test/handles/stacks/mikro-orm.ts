import type * as core from '@mikro-orm/core'
import type * as driver from '@mikro-orm/postgresql'
import { fromMikroOrm } from '../../../src/storages/postgres/index.js'
import type { OpenStack, OpenTransaction } from '../stack.js'

export const openMikroOrm: OpenStack = async (load, clientUrl) => {
  const { MikroORM } = await load('@mikro-orm/core') as typeof core
  const { PostgreSqlDriver } = await load('@mikro-orm/postgresql') as typeof driver
  const orm = await MikroORM.init({
    driver: PostgreSqlDriver,
    clientUrl,
    dbName: new URL(clientUrl).pathname.slice(1),
    entities: [],
    discovery: { warnWhenNoEntities: false }
  })
  const open = (em: driver.SqlEntityManager): OpenTransaction => ({
    handle: em,
    transaction: fromMikroOrm(em),
    run: (text) => em.getConnection().execute(text, [], 'run', em.getTransactionContext()),
    nest: (work) => em.transactional((inner) => work(open(inner)))
  })
  const em = orm.em.fork()
  return { root: em, begin: (work) => em.transactional((inner) => work(open(inner))), end: () => orm.close() }
}

import type * as sequelize from 'sequelize'
import { fromSequelize } from '../../../src/storages/postgres/index.js'
import type { OpenStack, OpenTransaction } from '../stack.js'

export const openSequelize: OpenStack = async (load, url) => {
  const { default: { Sequelize } } = await load('sequelize') as { default: typeof sequelize }
  const db = new Sequelize(url, { dialect: 'postgres', logging: false })
  const open = (transaction: sequelize.Transaction): OpenTransaction => ({
    handle: transaction,
    transaction: fromSequelize(transaction),
    run: (text) => db.query(text, { transaction }),
    nest: (work) => db.transaction({ transaction }, (inner) => work(open(inner)))
  })
  return { root: db, begin: (work) => db.transaction((transaction) => work(open(transaction))), end: () => db.close() }
}

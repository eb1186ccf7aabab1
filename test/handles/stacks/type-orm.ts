import type * as typeOrm from 'typeorm'
import { fromTypeOrm } from '../../../src/storages/postgres/index.js'
import type { OpenStack, OpenTransaction } from '../stack.js'

export const openTypeOrmManager: OpenStack = async (load, url) => {
  const db = await connect(load, url)
  const open = (manager: typeOrm.EntityManager): OpenTransaction => ({
    handle: manager,
    transaction: fromTypeOrm(manager),
    run: (text) => manager.query(text),
    nest: (work) => manager.transaction((inner) => work(open(inner)))
  })
  return {
    root: db.manager, begin: (work) => db.transaction((manager) => work(open(manager))), end: () => db.destroy()
  }
}

export const openTypeOrmQueryRunner: OpenStack = async (load, url) => {
  const db = await connect(load, url)
  return {
    root: db,
    async begin (work) {
      const runner = db.createQueryRunner()
      try {
        await runner.startTransaction()
        await work({ handle: runner, transaction: fromTypeOrm(runner), run: (text) => runner.query(text) })
        await runner.commitTransaction()
      } catch (error) {
        await runner.rollbackTransaction()
        throw error
      } finally {
        await runner.release()
      }
    },
    end: () => db.destroy()
  }
}

async function connect (load: Parameters<OpenStack>[0], url: string): Promise<typeOrm.DataSource> {
  const { DataSource } = await load('typeorm') as typeof typeOrm
  return new DataSource({ type: 'postgres', url }).initialize()
}

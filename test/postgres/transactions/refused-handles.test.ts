import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import t, { type Test } from 'tap'
import { createRecruiting } from '../../../src/index.js'
import {
  fromDrizzle, fromKnex, fromKysely, fromMikroOrm, fromPostgresJs, fromPrisma, fromSequelize, fromTypeOrm, postgresStorage
} from '../../../src/postgres/index.js'
import {
  standInForDrizzle, standInForKnex, standInForMikroOrm, standInForPostgresJs, standInForPrisma, standInForSequelize,
  standInForTypeOrm
} from '../../fixtures/postgres/handles.js'

const event = { tenantSlug: 'acme', type: 'application.created', data: { id: 1 } } as const

// Nothing connects: what is refused is refused before a statement.
const pool = new pg.Pool({ port: 1 })
const client = new pg.Client({ port: 1 })
const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
const none = (): void => {}
const { manager, queryRunner } = standInForTypeOrm(client)
const recruiting = createRecruiting({ storage: postgresStorage(pool), delivery: false })
t.teardown(() => recruiting.close())

const unreadable = new Proxy(() => {}, { get () { throw new Error('unreadable') } })

async function assertRefused (t: Test, transaction: unknown, problem: string): Promise<void> {
  const refusal = { name: 'RecruitingApiError', code: 'invalid_event', field: 'transaction', message: `transaction: ${problem}` }
  await t.rejects(recruiting.emit(event, { transaction }), refusal)
  await t.rejects(recruiting.erase({ tenantSlug: 'acme', subject: 'candidate:1' }, { transaction }), refusal)
}

t.test('a handle of a library is refused with the function to use', async (t) => {
  const bare: Array<[handle: unknown, library: string, wrapped: string]> = [
    [standInForPrisma(client), 'Prisma', 'fromPrisma(tx)'],
    [standInForDrizzle(client), 'Drizzle', 'fromDrizzle(tx)'],
    [db, 'Kysely', 'fromKysely(trx)'],
    [standInForKnex(client), 'Knex', 'fromKnex(trx)'],
    [manager, 'TypeORM', 'fromTypeOrm(manager)'],
    [queryRunner, 'TypeORM', 'fromTypeOrm(manager)'],
    [standInForSequelize(client), 'Sequelize', 'fromSequelize(transaction)'],
    [{ query: none, define: none, transaction: none, authenticate: none }, 'Sequelize', 'fromSequelize(transaction)'],
    [standInForMikroOrm(undefined), 'MikroORM', 'fromMikroOrm(em)'],
    [standInForPostgresJs(client), 'postgres.js', 'fromPostgresJs(sql)']
  ]
  for (const [handle, library, wrapped] of bare) await assertRefused(t, handle, `expected ${wrapped}, got the ${library} handle itself`)
})

t.test('values other than handles are refused with the expected ones', async (t) => {
  for (const value of [null, 'begin', 7, {}, none, [], { query: 'select' }, unreadable, { get query () { throw new Error('unreadable') } }]) {
    await assertRefused(t, value, 'expected a client with a method query(text, values), or one of fromPrisma(tx), fromDrizzle(tx), ' +
      'fromKysely(trx), fromKnex(trx), fromTypeOrm(manager), fromSequelize(transaction), fromMikroOrm(em), fromPostgresJs(sql)')
  }
})

t.test('a function is given a transaction of its library, or says what it expects', async (t) => {
  const { manager: root } = standInForTypeOrm(client)
  const wrong: Array<[wrap: (handle: never) => unknown, expected: string, handles: unknown[]]> = [
    [fromPrisma, 'fromPrisma expects the client that prisma.$transaction gives to its callback',
      [Object.assign(standInForPrisma(client), { $connect: none })]],
    [fromDrizzle, 'fromDrizzle expects the transaction that db.transaction gives to its callback',
      [{ execute: none, select: none, selectDistinct: none, transaction: none }]],
    [fromKysely, 'fromKysely expects the transaction that db.transaction().execute gives', [db]],
    [fromKnex, 'fromKnex expects the transaction that knex.transaction gives', [standInForKnex(client, { isTransaction: false })]],
    [fromTypeOrm, 'fromTypeOrm expects the manager that dataSource.transaction gives to its callback, or a query runner with a transaction',
      [{ ...root, queryRunner: undefined }]],
    [fromSequelize, 'fromSequelize expects the transaction that sequelize.transaction gives', []],
    [fromMikroOrm, 'fromMikroOrm expects the entity manager that em.transactional gives to its callback',
      [standInForMikroOrm(undefined), standInForMikroOrm({})]],
    [fromPostgresJs, 'fromPostgresJs expects the sql that sql.begin gives to its callback',
      [Object.assign(standInForPostgresJs(client), { savepoint: undefined })]]
  ]
  for (const [wrap, message, handles] of wrong) {
    for (const handle of [...handles, client, undefined, null, {}, unreadable]) {
      t.throws(() => wrap(handle as never), { code: 'invalid_event', field: 'transaction', message: `transaction: ${message}` })
    }
  }
})

import { CamelCasePlugin, Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import t, { type Test } from 'tap'
import { createRecruiting } from '../../../src/index.js'
import {
  type PgQueryable, fromDrizzle, fromKnex, fromKysely, fromMikroOrm, fromPostgresJs, fromPrisma, fromSequelize, fromTypeOrm
} from '../../../src/postgres/index.js'
import {
  standInForDrizzle, standInForKnex, standInForMikroOrm, standInForPostgresJs, standInForPrisma, standInForSequelize,
  standInForTypeOrm
} from '../../fixtures/postgres/handles.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { storeWebhook } from '../../fixtures/api/webhooks.js'

const wrappers: Record<string, (client: pg.ClientBase) => PgQueryable> = {
  Prisma: (client) => fromPrisma(standInForPrisma(client)),
  Drizzle: (client) => fromDrizzle(standInForDrizzle(client)),
  'Drizzle with a driver that returns the rows alone': (client) => fromDrizzle(standInForDrizzle(client, { returnsRows: true })),
  Knex: (client) => fromKnex(standInForKnex(client)),
  'a manager of TypeORM': (client) => fromTypeOrm(standInForTypeOrm(client).manager),
  'a query runner of TypeORM': (client) => fromTypeOrm(standInForTypeOrm(client).queryRunner),
  Sequelize: (client) => fromSequelize(standInForSequelize(client)),
  'MikroORM 5 and 6': (client) => fromMikroOrm(standInForMikroOrm(standInForKnex(client))),
  'postgres.js': (client) => fromPostgresJs(standInForPostgresJs(client))
}

const event = {
  tenantSlug: 'acme',
  type: 'application.created',
  subject: 'candidate:1',
  idempotencyKey: '$1 ?',
  data: { note: 'it\'s "quoted" ? $1 🦉 \\' }
} as const

t.test('events in a transaction of a library', async (t) => {
  const { pool, storage, schema, clear } = await startPostgresHost(t)
  const recruiting = createRecruiting({ storage, delivery: false })
  t.teardown(() => recruiting.close())
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }), plugins: [new CamelCasePlugin()] })

  t.beforeEach(async () => {
    await clear()
    await storeWebhook(storage, 'acme', { eventTypes: [event.type] })
  })

  async function emitAndErase (t: Test, transaction: PgQueryable): Promise<void> {
    const emitted = await recruiting.emit(event, { transaction })
    t.equal(emitted.deliveries, 1)
    t.same(await recruiting.emit(event, { transaction }), emitted, 'the same key again')
    t.equal(await recruiting.erase({ tenantSlug: 'acme', subject: event.subject }, { transaction }), 1)
    await recruiting.emit({ ...event, idempotencyKey: 'another' }, { transaction })
    t.same((await transaction.query('select $1::text as first_column, $2::bigint[] = array[5, 6]::bigint[] as equal', ['a', [5, 6]])).rows,
      [{ first_column: 'a', equal: true }])
    t.same((await transaction.query('select 1 as one')).rows, [{ one: 1 }])
  }

  async function assertSent (t: Test): Promise<void> {
    const claimed = await storage.deliveries.claimDue({ limit: 10, perEndpoint: 10, leaseMs: 60_000 })
    t.same(claimed.map(({ body }) => JSON.parse(body).data), [event.data])
  }

  for (const [name, wrap] of Object.entries(wrappers)) {
    t.test(name, async (t) => {
      const client = await pool.connect()
      t.teardown(() => client.release(true))
      await client.query('begin')
      await emitAndErase(t, wrap(client))
      await client.query('commit')
      await assertSent(t)
    })
  }

  t.test('Kysely, and MikroORM from 7 on', async (t) => {
    for (const wrap of [fromKysely, (trx: unknown) => fromMikroOrm(standInForMikroOrm(trx))]) {
      await db.transaction().execute((trx) => emitAndErase(t, wrap(trx)))
      await assertSent(t)
      await clear()
      await storeWebhook(storage, 'acme', { eventTypes: [event.type] })
    }
  })

  t.test('a transaction that has ended takes no event, though its library would lend a connection', async (t) => {
    const client = await pool.connect()
    t.teardown(() => client.release(true))
    // Somebody else's transaction by now.
    await client.query('begin')
    const controlled = await db.startTransaction().execute()
    const rolledBack = await db.startTransaction().execute()
    const ended = [
      fromKnex(standInForKnex(client, { isCompleted: true })),
      fromTypeOrm(standInForTypeOrm(client, { isTransactionActive: false }).manager),
      fromTypeOrm(standInForTypeOrm(client, { isReleased: true }).queryRunner),
      fromSequelize(standInForSequelize(client, { finished: 'commit' })),
      fromSequelize(standInForSequelize(client, { parent: { finished: 'rollback' } })),
      fromSequelize(standInForSequelize(undefined)),
      fromKysely(controlled),
      fromKysely(rolledBack)
    ]
    await controlled.commit().execute()
    await rolledBack.rollback().execute()
    for (const transaction of ended) {
      await t.rejects(recruiting.emit(event, { transaction }), {
        code: 'invalid_event',
        field: 'transaction',
        message: /^transaction: this \w+ transaction has ended, or has not begun$/
      })
    }
    t.same((await client.query(`select from ${schema}.events`)).rows, [])
    await client.query('rollback')
  })
})

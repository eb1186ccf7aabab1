import { CamelCasePlugin, Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import t, { type Test } from 'tap'
import { createRecruiting } from '../../../src/index.js'
import {
  fromDrizzle, fromKnex, fromKysely, fromMikroOrm, fromPostgresJs, fromPrisma, fromSequelize, fromTypeOrm,
  type PgQueryable, postgresStorage
} from '../../../src/storages/postgres/index.js'
import {
  standInForDrizzle, standInForKnex, standInForMikroOrm, standInForPostgresJs, standInForPrisma,
  standInForSequelize, standInForTypeOrm
} from '../../fixtures/postgres/handles.js'
import { begin, startPostgresHost } from '../../fixtures/postgres/postgres.js'
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

t.test("events in a library's transaction", async (t) => {
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
      const client = await begin(pool)
      await emitAndErase(t, wrap(client))
      await client.finish()
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

  t.test('a finished transaction rejects events, even if its library would lend a connection', async (t) => {
    // Another caller's transaction by now.
    const client = await begin(pool)
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
    await client.finish('rollback')
  })
})

const application = { tenantSlug: 'acme', type: 'application.created', data: { id: 1 } } as const

// Nothing connects: handles are rejected before a statement.
const pool = new pg.Pool({ port: 1 })
const client = new pg.Client({ port: 1 })
const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
const none = (): void => {}
const { manager, queryRunner } = standInForTypeOrm(client)
const recruiting = createRecruiting({ storage: postgresStorage(pool), delivery: false })
t.teardown(() => recruiting.close())

const unreadable = new Proxy(() => {}, { get () { throw new Error('unreadable') } })

async function assertRejected (t: Test, transaction: unknown, problem: string): Promise<void> {
  const rejection = { name: 'RecruitingApiError', code: 'invalid_event', field: 'transaction', message: `transaction: ${problem}` }
  await t.rejects(recruiting.emit(application, { transaction }), rejection)
  await t.rejects(recruiting.erase({ tenantSlug: 'acme', subject: 'candidate:1' }, { transaction }), rejection)
}

t.test("a library's bare handle is rejected, and the error names the function to use", async (t) => {
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
  for (const [handle, library, wrapped] of bare) await assertRejected(t, handle, `expected ${wrapped}, got the ${library} handle itself`)
})

t.test('values other than handles are rejected, and the error names the expected ones', async (t) => {
  for (const value of [null, 'begin', 7, {}, none, [], { query: 'select' }, unreadable, { get query () { throw new Error('unreadable') } }]) {
    await assertRejected(t, value, 'expected a client with a method query(text, values), or one of fromPrisma(tx), fromDrizzle(tx), ' +
      'fromKysely(trx), fromKnex(trx), fromTypeOrm(manager), fromSequelize(transaction), fromMikroOrm(em), fromPostgresJs(sql)')
  }
})

t.test('a function accepts its library\'s transaction, and rejects anything else with an error that names it', async (t) => {
  const { manager: root } = standInForTypeOrm(client)
  const wrong: Array<[wrap: (handle: never) => unknown, expected: string, handles: unknown[]]> = [
    [fromPrisma, 'fromPrisma expects the client that prisma.$transaction passes to its callback',
      [Object.assign(standInForPrisma(client), { $connect: none })]],
    [fromDrizzle, 'fromDrizzle expects the transaction that db.transaction passes to its callback',
      [{ execute: none, select: none, selectDistinct: none, transaction: none }]],
    [fromKysely, 'fromKysely expects the transaction that db.transaction().execute passes to its callback', [db]],
    [fromKnex, 'fromKnex expects a transaction from knex.transaction', [standInForKnex(client, { isTransaction: false })]],
    [fromTypeOrm, 'fromTypeOrm expects the manager that dataSource.transaction passes to its callback, or a query runner with a transaction',
      [{ ...root, queryRunner: undefined }]],
    [fromSequelize, 'fromSequelize expects a transaction from sequelize.transaction', []],
    [fromMikroOrm, 'fromMikroOrm expects the entity manager that em.transactional passes to its callback',
      [standInForMikroOrm(undefined), standInForMikroOrm({})]],
    [fromPostgresJs, 'fromPostgresJs expects the sql that sql.begin passes to its callback',
      [Object.assign(standInForPostgresJs(client), { savepoint: undefined })]]
  ]
  for (const [wrap, message, handles] of wrong) {
    const error = { code: 'invalid_event', field: 'transaction', message: `transaction: ${message}` }
    for (const handle of [undefined, null]) t.throws(() => wrap(handle as never), error)
    for (const handle of [...handles, client, {}, unreadable]) {
      await t.rejects(recruiting.emit(event, { transaction: wrap(handle as never) }), error)
    }
  }
})

const subject = { tenantSlug: 'acme', subject: 'candidate:1' }
const rejection = {
  name: 'RecruitingApiError',
  code: 'invalid_event',
  field: 'transaction',
  message: 'transaction: expected a client inside a transaction, got one in autocommit mode'
}

/** The data of all events: at first, and after another event was emitted and the first one's subject erased. */
const untouched = [{ id: 1 }]
const written = [null, { id: 2 }]

t.test('handles on a server', async (t) => {
  const { server, pool, storage, schema, clear } = await startPostgresHost(t)
  const recruiting = createRecruiting({ storage, delivery: false })
  t.teardown(() => recruiting.close())
  await pool.query('create table applications (id int)')
  const insert = 'insert into applications values (1)'
  t.beforeEach(async () => {
    await clear()
    await recruiting.emit({ ...application, ...subject })
  })
  const emit = (transaction: unknown) => recruiting.emit({ ...application, data: { id: 2 } }, { transaction })

  async function assertRejected (t: Test, transaction: unknown): Promise<void> {
    await t.rejects(emit(transaction), rejection)
    await t.rejects(recruiting.erase(subject, { transaction }), rejection)
    await assertEvents(t, untouched)
  }

  async function assertEvents (t: Test, expected: unknown[]): Promise<void> {
    const { rows } = await pool.query(`select body::text from ${schema}.events order by seq`)
    t.strictSame(rows.map(({ body }) => JSON.parse(body).data), expected)
  }

  t.test('a pool is rejected, even with one connection', async (t) => {
    for (const max of [1, 5]) await assertRejected(t, server.createPool({ max }))
  })

  t.test('a client outside a transaction is rejected: before begin, after commit and after rollback', async (t) => {
    const client = await pool.connect()
    await assertRejected(t, client)
    for (const end of ['commit', 'rollback']) {
      await client.query(`begin; ${insert}`)
      await client.query(end)
      await assertRejected(t, client)
    }
    client.release()
  })

  const rolledBack = `savepoint before; ${insert}; rollback to before`
  for (const before of ['', 'select 1', insert, 'savepoint before', 'set local lock_timeout = 100', rolledBack]) {
    t.test(`a client inside a transaction is accepted, after ${before === '' ? 'nothing else' : before}`, async (t) => {
      for (const [end, expected] of [['rollback', untouched], ['commit', written]] as const) {
        const client = await begin(pool, `begin; ${before}`)
        t.match(await emit(client), { deliveries: 0 })
        t.equal(await recruiting.erase(subject, { transaction: client }), 1)
        await client.finish(end)
        await assertEvents(t, expected)
      }
    })
  }

  t.test('an emit takes one statement in a transaction that has written before, and two in a new one', async (t) => {
    const client = await begin(pool, `begin; ${insert}`)
    let count = 0
    const counting: PgQueryable = {
      query (text, values) {
        count++
        return client.query(text, values)
      }
    }
    await emit(counting)
    t.equal(count, 1)
    await client.query('rollback; begin')
    await emit(counting)
    t.equal(count, 3)
    await emit(counting)
    t.equal(count, 4)
    await client.finish('rollback')
  })

  t.test('a failed transaction rejects with its own error, and records nothing', async (t) => {
    const client = await begin(pool)
    await t.rejects(client.query('select nonsense'))
    await t.rejects(emit(client), { code: '25P02' })
    await client.finish('rollback')
    await assertEvents(t, untouched)
  })
})

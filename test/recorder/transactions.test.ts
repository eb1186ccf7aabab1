import pg from 'pg'
import t from 'tap'
import {
  type PgQueryable, fromDrizzle, fromKnex, fromKysely, fromMikroOrm, fromPostgresJs, fromPrisma, fromSequelize, fromTypeOrm
} from '../../src/postgres/index.js'
import { type EventRecorder, recordEvents } from '../../src/testing/index.js'
import {
  standInForDrizzle, standInForKnex, standInForMikroOrm, standInForPostgresJs, standInForPrisma, standInForSequelize, standInForTypeOrm
} from '../fixtures/postgres/handles.js'

const event = { tenantSlug: 'acme', type: 'application.created', data: { id: 1 } } as const

function emitIds (recorder: EventRecorder) {
  return async (transaction: unknown, ...ids: number[]): Promise<void> => {
    for (const id of ids) await recorder.recruiting.emit({ ...event, data: { id } }, { transaction })
  }
}

t.test('any handle is a transaction: its events are listed, and forgotten if it is rolled back', async (t) => {
  for (const handle of [{}, () => {}, Symbol('tx'), 'tx', 0, '', false, new Proxy({}, { get () { throw new Error('canary') } })]) {
    const recorder = recordEvents()
    const emit = emitIds(recorder)
    await emit(undefined, 1)
    await emit(handle, 2)
    await emit({}, 3)
    await emit(handle, 4)
    t.equal(recorder.events[1]?.transaction, handle)
    t.equal(recorder.events.length, 4)
    recorder.rollback(handle)
    t.strictSame(recorder.events.map(({ data }) => data), [{ id: 1 }, { id: 3 }], typeof handle)
  }
})

t.test('a committed event stays, even if its handle is used for another transaction', async (t) => {
  const recorder = recordEvents()
  const emit = emitIds(recorder)
  const client = {}
  await emit(client, 1)
  recorder.commit(client)
  recorder.rollback(client)
  await emit(client, 2)
  recorder.rollback(client)
  recorder.rollback(client)
  await emit(client, 3)
  recorder.commit(client)
  t.strictSame(recorder.events.map(({ data }) => data), [{ id: 1 }, { id: 3 }])
})

t.test('a key that was rolled back can be used again', async (t) => {
  const { recruiting, rollback, events } = recordEvents()
  const tx = {}
  const first = await recruiting.emit({ ...event, idempotencyKey: 'once' }, { transaction: tx })
  rollback(tx)
  const second = await recruiting.emit({ ...event, idempotencyKey: 'once', data: { id: 2 } })
  t.not(second.id, first.id)
  t.strictSame(events.map(({ data }) => data), [{ id: 2 }])
})

t.test('commit and rollback refuse a missing handle', async (t) => {
  const { commit, rollback } = recordEvents()
  for (const end of [commit, rollback]) {
    t.throws(() => end(undefined), { code: 'invalid_input', field: 'transaction', message: 'transaction: expected a handle, got undefined' })
    t.throws(() => end(null), { code: 'invalid_input', field: 'transaction', message: 'transaction: expected a handle, got null' })
  }
})

// Not connected: a recorder asks no database.
const client = new pg.Client()
const kysely = { isTransaction: true, executeQuery () {}, selectFrom () {}, withoutPlugins (): never { throw new Error('nobody calls it') } } as const
const { manager, queryRunner } = standInForTypeOrm(client)

function wrapping<Handle extends object> (from: (handle: Handle) => PgQueryable, handle: Handle): { handle: object, wrap: () => PgQueryable } {
  return { handle, wrap: () => from(handle) }
}

const libraries = {
  Prisma: wrapping(fromPrisma, standInForPrisma(client)),
  Drizzle: wrapping(fromDrizzle, standInForDrizzle(client)),
  Knex: wrapping(fromKnex, standInForKnex(client)),
  Kysely: wrapping(fromKysely, kysely),
  'a manager of TypeORM': wrapping(fromTypeOrm, manager),
  'a query runner of TypeORM': wrapping(fromTypeOrm, queryRunner),
  Sequelize: wrapping(fromSequelize, standInForSequelize(client)),
  'MikroORM on Knex': wrapping(fromMikroOrm, standInForMikroOrm(standInForKnex(client))),
  'MikroORM on Kysely': wrapping(fromMikroOrm, standInForMikroOrm(kysely)),
  'postgres.js': wrapping(fromPostgresJs, standInForPostgresJs(client))
}

for (const [library, { handle, wrap }] of Object.entries(libraries)) {
  t.test(`a transaction of ${library} is known by its own handle, however often it is converted`, async (t) => {
    const recorder = recordEvents()
    const emit = emitIds(recorder)
    await emit(wrap(), 1)
    t.equal(recorder.events[0]?.transaction, handle)
    recorder.commit(handle)
    await emit(wrap(), 2, 3)
    recorder.rollback(handle)
    await emit(wrap(), 4)
    recorder.rollback(wrap())
    t.strictSame(recorder.events.map(({ data }) => data), [{ id: 1 }])
  })
}

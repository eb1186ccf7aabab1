import { Type } from '@sinclair/typebox'
import pg from 'pg'
import t from 'tap'
import { type EventRecorder, recordEvents, type RecordEventsOptions } from '../../src/tools/testing/index.js'
import {
  fromDrizzle, fromKnex, fromKysely, fromMikroOrm, fromPostgresJs, fromPrisma, fromSequelize, fromTypeOrm,
  type PgQueryable
} from '../../src/storages/postgres/index.js'
import { allScopes, bearer, buildApp, keys } from '../fixtures/api/app.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'
import { toLoopback } from '../fixtures/api/webhook-api.js'
import { storeWebhook } from '../fixtures/api/webhooks.js'
import {
  standInForDrizzle, standInForKnex, standInForMikroOrm, standInForPostgresJs, standInForPrisma, standInForSequelize,
  standInForTypeOrm
} from '../fixtures/postgres/handles.js'

const events = {
  'offer.signed': Type.Object({ id: Type.Integer(), at: Type.Optional(Type.Unsafe<Date | string>({})) }),
  'offer.sent': Type.Object({ id: Type.Integer() })
}
const signed = { tenantSlug: 'acme', type: 'offer.signed', data: { id: 7 } } as const

t.test('events are listed in emit order, as receivers get them', async (t) => {
  const { recruiting, events: listed, of } = recordEvents({ events })
  const at = new Date('2026-03-01T09:30:00Z')
  const { id, deliveries } = await recruiting.emit({
    ...signed, data: { id: 7, at }, subject: 'candidate:42', subjects: ['job:7', 'candidate:42'], idempotencyKey: 'offer-7', occurredAt: at
  })
  await recruiting.emit({ tenantSlug: 'globex', type: 'offer.sent', data: { id: 8 } })
  t.equal(deliveries, 0)
  const wrong = recruiting.emit({ ...signed, data: { id: 'seven' } } as never)
  await t.rejects(wrong, { code: 'invalid_event', field: 'data.id' }, 'rejected like in production')
  const [first, second] = listed
  t.strictSame(first, {
    tenantSlug: 'acme',
    type: 'offer.signed',
    data: { id: 7, at: '2026-03-01T09:30:00.000Z' },
    subject: 'candidate:42',
    subjects: ['candidate:42', 'job:7'],
    idempotencyKey: 'offer-7',
    body: `{"id":"${id}","type":"offer.signed","timestamp":"2026-03-01T09:30:00.000Z","sequence":"${JSON.parse(first?.body ?? '').sequence}","tenant_slug":"acme","data":{"id":7,"at":"2026-03-01T09:30:00.000Z"}}`,
    transaction: undefined
  })
  t.match(second, { tenantSlug: 'globex', type: 'offer.sent', data: { id: 8 }, subject: null, subjects: [], idempotencyKey: null })
  t.strictSame(of('offer.signed'), [first])
  t.strictSame(of('offer.sent'), [second])
})

t.test('each event has a greater sequence than the last one', async (t) => {
  const { recruiting, events: listed } = recordEvents({ events })
  for (let id = 0; id < 20; id++) await recruiting.emit({ ...signed, data: { id, at: new Date() } })
  const sequences = listed.map(({ body }) => JSON.parse(body).sequence)
  t.strictSame(sequences, [...new Set(sequences)].sort())
  t.equal(sequences.length, 20)
})

t.test('clear removes all events, keys and open transactions from the same array', async (t) => {
  const recorder = recordEvents({ events })
  const { events: listed, recruiting } = recorder
  await recruiting.emit({ ...signed, idempotencyKey: 'once' }, { transaction: 'tx' })
  recorder.clear()
  t.strictSame(listed, [])
  await recruiting.emit({ ...signed, idempotencyKey: 'once' })
  recorder.rollback('tx')
  t.equal(listed.length, 1)
  t.equal(recorder.events, listed)
})

t.test('unknown options, and types outside the catalogue, are rejected', async (t) => {
  const record = recordEvents as (options?: unknown) => unknown
  for (const [options, field] of [[5, 'options'], [{ event: events }, 'event'], [{ events: { signed: events['offer.signed'] } }, 'events["signed"]']] as const) {
    t.throws(() => record(options), { code: 'invalid_option', field }, field)
  }
  const { of } = recordEvents({ events } satisfies RecordEventsOptions<typeof events>)
  const find = of as (type: string) => unknown
  for (const type of ['offer.singed', 'toString']) {
    t.throws(() => find(type), { code: 'invalid_input', field: 'type', message: `type: expected an event of the catalogue, got "${type}"` })
  }
})

const event = { tenantSlug: 'acme', type: 'application.created', data: { id: 1 } } as const

t.test("an app on a recorder's storage serves requests, and its events are recorded but not sent", async (t) => {
  const receiver = await startReceiver(t)
  const recorder = recordEvents()
  recorder.storage.candidates.save('acme', { id: 1, full_name: 'Ada Lovelace' })
  const app = await buildApp(t, { storage: recorder.storage, delivery: toLoopback })
  await storeWebhook(recorder.storage, 'acme', { targetUrl: receiver.url })
  const tx = {}
  await app.recruiting.emit(event, { transaction: tx })
  await app.recruiting.emit({ ...event, data: { id: 2 } })
  recorder.rollback(tx)
  await app.recruiting.drain()
  t.strictSame(recorder.of('application.created').map(({ data }) => data), [{ id: 2 }])
  t.equal(receiver.requests.length, 0)
  const answer = await app.inject({ url: '/api/v1/public/acme/candidates', headers: bearer(keys.full) })
  t.match(answer.json(), { data: [{ full_name: 'Ada Lovelace' }] })
})

t.test('every call with a transaction accepts any handle', async (t) => {
  const { recruiting, storage } = recordEvents()
  const options = { transaction: {} }
  const begin = await storage.changes.begin('acme', 'candidate')
  await recruiting.changed({ tenantSlug: 'acme', kind: 'candidate', id: 42 }, options)
  t.match(await storage.changes.list('acme', 'candidate', { after: begin, limit: 10 }), { ids: ['42'] })
  const { id } = await storeWebhook(storage, 'acme')
  t.strictSame(await recruiting.renameTenant('acme', 'initech', options), { webhooks: 1 })
  t.match(await recruiting.webhooks.find('initech', id), { id })
  t.strictSame(await recruiting.removeTenant('initech', options), { left: 0 })
  t.equal(await recruiting.webhooks.find('initech', id), null)
})

t.test('a recorder accepts ids, tenants and changes, so that an app under test keeps its options', async (t) => {
  const tenantId = (slug: string): number | null => slug === 'acme' ? 41 : null
  const ids = { candidate: 'string' } as const
  const { storage, recruiting, events } = recordEvents({
    ids,
    tenantId,
    tenantSlug: () => 'acme',
    changes: 'manual',
    tenants: { 41: { candidates: [{ id: 'ada', full_name: 'Ada' }] } }
  })
  const app = await buildApp(t, { storage, ids, tenantId, keyLookup: () => ({ id: 'k', scopes: allScopes }) })
  const ask = async (path: string) =>
    (await app.inject({ url: `/api/v1/public/acme${path}`, headers: bearer('k') })).json()
  t.match(await ask('/candidates/ada'), { data: { id: 'ada', full_name: 'Ada' } })
  const { meta: { next_token: token } } = await ask('/candidates/sync')
  storage.candidates.save('41', { id: 'eve', full_name: 'Eve' })
  const sync = async () => (await ask(`/candidates/sync?token=${token}`)).data.map((item: { id: string }) => item.id)
  t.strictSame(await sync(), [])
  await recruiting.changed({ tenantId: 41, kind: 'candidate', id: 'eve' })
  t.strictSame(await sync(), ['eve'])
  await recruiting.emit({ tenantId: 41, type: 'application.created', data: {} })
  t.match(events, [{ tenantSlug: '41', body: /"tenant_slug":"acme"/ }])
  await t.rejects(recruiting.emit({ ...event, tenantSlug: 'globex' }), { code: 'unknown_tenant' })
  t.throws(() => recordEvents({ changes: 'trigger' as 'watch' }), { code: 'invalid_option', field: 'changes' })
})

function emitIds (recorder: EventRecorder) {
  return async (transaction: unknown, ...ids: number[]): Promise<void> => {
    for (const id of ids) await recorder.recruiting.emit({ ...event, data: { id } }, { transaction })
  }
}

t.test('any handle can be a transaction, and a rollback removes its events', async (t) => {
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

t.test('a committed event stays, even if its handle is reused for another transaction', async (t) => {
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

t.test('a rolled back idempotency key can be used again', async (t) => {
  const { recruiting, rollback, events } = recordEvents()
  const tx = {}
  const first = await recruiting.emit({ ...event, idempotencyKey: 'once' }, { transaction: tx })
  rollback(tx)
  const second = await recruiting.emit({ ...event, idempotencyKey: 'once', data: { id: 2 } })
  t.not(second.id, first.id)
  t.strictSame(events.map(({ data }) => data), [{ id: 2 }])
})

t.test('commit and rollback reject a missing handle', async (t) => {
  const { commit, rollback } = recordEvents()
  for (const end of [commit, rollback]) {
    t.throws(() => end(undefined), { code: 'invalid_input', field: 'transaction', message: 'transaction: expected a handle, got undefined' })
    t.throws(() => end(null), { code: 'invalid_input', field: 'transaction', message: 'transaction: expected a handle, got null' })
  }
})

// Not connected: a recorder uses no database.
const client = new pg.Client()
const kysely = { isTransaction: true, executeQuery () {}, selectFrom () {}, withoutPlugins (): never { throw new Error('unexpected call') } } as const
const { manager, queryRunner } = standInForTypeOrm(client)

function wrapping<Handle extends object> (from: (handle: Handle) => PgQueryable, handle: Handle) {
  return { handle, wrap: () => from(handle) }
}

const libraries = {
  Prisma: wrapping(fromPrisma, standInForPrisma(client)),
  Drizzle: wrapping(fromDrizzle, standInForDrizzle(client)),
  Knex: wrapping(fromKnex, standInForKnex(client)),
  Kysely: wrapping(fromKysely, kysely),
  'TypeORM manager': wrapping(fromTypeOrm, manager),
  'TypeORM query runner': wrapping(fromTypeOrm, queryRunner),
  Sequelize: wrapping(fromSequelize, standInForSequelize(client)),
  'MikroORM on Knex': wrapping(fromMikroOrm, standInForMikroOrm(standInForKnex(client))),
  'MikroORM on Kysely': wrapping(fromMikroOrm, standInForMikroOrm(kysely)),
  'postgres.js': wrapping(fromPostgresJs, standInForPostgresJs(client)),
  ...Object.fromEntries([
    fromPrisma, fromDrizzle, fromKysely, fromKnex, fromTypeOrm, fromSequelize, fromMikroOrm, fromPostgresJs
  ].flatMap((from) => [{}, new Proxy({}, { get: () => () => {} })].map((mock, index) =>
    [`a mock ${index} for ${from.name}`, wrapping(from as never, mock)])))
}

t.test("a converted transaction is identified by its library's own handle", async (t) => {
  for (const [library, { handle, wrap }] of Object.entries(libraries)) {
    const recorder = recordEvents()
    const emit = emitIds(recorder)
    await emit(wrap(), 1)
    t.equal(recorder.events[0]?.transaction, handle, library)
    recorder.commit(handle)
    await emit(wrap(), 2)
    recorder.rollback(handle)
    await emit(wrap(), 3)
    recorder.rollback(wrap())
    t.strictSame(recorder.events.map(({ data }) => data), [{ id: 1 }], library)
  }
})

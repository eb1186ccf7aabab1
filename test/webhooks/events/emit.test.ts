import { Type } from '@sinclair/typebox'
import t from 'tap'
import { createRecruiting, isRecruitingApiError, RecruitingApiError } from '../../../src/index.js'
import { memoryStorage } from '../../../src/storages/memory/index.js'
import { generateEventId } from '../../../src/core/shared/event-id.js'
import { createMachines, event } from '../../fixtures/delivery/engine.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { first, startDelivering } from '../../fixtures/delivery/delivering.js'
import { timeOf } from '../../fixtures/api/webhook-api.js'

const slug = 'tenantSlug: expected a tenant slug of 1 to 100 characters without control characters'
const text = (field: string) => `${field}: expected 1 to 255 characters without control characters`
const date = 'occurredAt: expected a Date or an RFC 3339 date-time'
const type = (shown: string | undefined) => `type: expected an event of the catalogue, got ${shown}`
const circular: Record<string, unknown> = {}
circular.self = circular
const thrown: unknown = 'no error at all'
const throwing = { toJSON () { throw thrown } }
const revoked = Proxy.revocable({}, {})
revoked.revoke()
const throwingProxy = { toJSON () { throw revoked.proxy } }

const subjects = 'subjects: expected an array of at most 100 subjects'

const rejected: Array<[change: Record<string, unknown>, field: string, message: string | RegExp]> = [
  [{ tenantSlug: undefined }, 'tenantSlug', slug],
  [{ tenantSlug: 'a'.repeat(101) }, 'tenantSlug', slug],
  [{ tenantSlug: 'ac\nme' }, 'tenantSlug', slug],
  [{ tenantSlug: 'acme\ud83e' }, 'tenantSlug', slug],
  [{ type: 'toString' }, 'type', type('"toString"')],
  [{ type: undefined }, 'type', type('undefined')],
  [{ data: null }, 'data', 'data: must be object'],
  [{ data: [] }, 'data', 'data: must be object'],
  [{ data: circular }, 'data', /^data: Converting circular structure to JSON/],
  [{ data: { id: 1n } }, 'data', 'data: Do not know how to serialize a BigInt'],
  [{ data: throwing }, 'data', 'data: is not JSON'],
  [{ data: throwingProxy }, 'data', 'data: is not JSON'],
  [{ subject: '' }, 'subject', text('subject')],
  [{ subject: '🦊'.repeat(256) }, 'subject', text('subject')],
  [{ subjects: 'job:1' }, 'subjects', subjects],
  [{ subjects: Array.from({ length: 101 }, (_, n) => `job:${n}`) }, 'subjects', subjects],
  [{ subject: 'candidate:1', subjects: ['job:1', ''] }, 'subjects[1]', text('subjects[1]')],
  [{ subjects: new Array(1) }, 'subjects[0]', text('subjects[0]')],
  [{ idempotencyKey: 'k\0' }, 'idempotencyKey', text('idempotencyKey')],
  [{ occurredAt: new Date(Number.NaN) }, 'occurredAt', date],
  [{ occurredAt: '2026-01-01T00:00:00' }, 'occurredAt', date],
  [{ occurredAt: 1767225600000 }, 'occurredAt', date],
  [{ idempotency_key: 'order-17' }, 'idempotency_key', 'idempotency_key: expected a known name such as idempotencyKey'],
  [{ toString: 'x' }, 'toString', 'toString: expected a known name such as tenantSlug']
]

t.test('emit rejects an event with a bad field, names the field, and records nothing', async (t) => {
  const { addWebhook, start, storage } = createMachines(t)
  await addWebhook('https://example.com/')
  const engine = start({ delivery: { worker: false } })
  for (const [change, field, message] of rejected) {
    const error = await engine.emit({ ...event, ...change } as never).then(() => null, (thrown: unknown) => thrown)
    t.ok(error instanceof RecruitingApiError && isRecruitingApiError(error), message.toString())
    t.match(error, { name: 'RecruitingApiError', code: 'invalid_event', field, message })
  }
  t.match(await storage.deliveries.stats(), { pending: 0 })
})

t.test('emit rejects non-objects and unknown options, and records nothing', async (t) => {
  const { addWebhook, start, storage } = createMachines(t)
  await addWebhook('https://example.com/')
  const engine = start({ delivery: { worker: false } })
  for (const nothing of [undefined, null, 'application.created']) {
    await t.rejects(engine.emit(nothing as never), { code: 'invalid_event', field: 'event', message: 'event: expected an object' })
  }
  await t.rejects(engine.emit(event, null as never), { code: 'invalid_event', field: 'options', message: 'options: expected an object' })
  // If it were ignored, the event would be sent even if the host rolls back.
  await t.rejects(engine.emit(event, { transation: {} } as never), {
    code: 'invalid_event', field: 'transation', message: 'transation: expected a known name such as transaction'
  })
  t.match(await storage.deliveries.stats(), { pending: 0 })
})

t.test('emit accepts text up to its limits', async (t) => {
  const { start } = createMachines(t)
  const engine = start({ delivery: { worker: false } })
  await engine.emit({
    ...event, tenantSlug: 'ü'.repeat(100), subject: 's'.repeat(255), subjects: Array.from({ length: 100 }, (_, n) => `${'s'.repeat(252)}${n}`), idempotencyKey: 'k'.repeat(255), occurredAt: '2026-01-01T00:00:60Z'
  })
})

t.test('emit rejects data that does not match the schema of its type, and names the field', async (t) => {
  const events = { 'offer.sent': Type.Object({ id: Type.Integer(), to: Type.Optional(Type.Array(Type.Object({ mail: Type.String() }))) }) }
  const engine = createRecruiting({ storage: memoryStorage(), events, delivery: { worker: false } })
  t.teardown(() => engine.close())
  const emit = (data: unknown) => engine.emit({ tenantSlug: 'acme', type: 'offer.sent', data } as never)
  await t.rejects(emit({}), { code: 'invalid_event', field: 'data.id', message: 'data.id: must have required property \'id\'' })
  await t.rejects(emit({ id: '1' }), { code: 'invalid_event', field: 'data.id', message: 'data.id: must be integer' })
  await t.rejects(emit({ id: 1, to: [{ mail: 'a' }, { mail: 2 }] }), {
    code: 'invalid_event', field: 'data.to[1].mail', message: 'data.to[1].mail: must be string'
  })
  await emit({ id: 1, unknown: 'fields are sent' })
  await t.rejects(engine.emit({ ...event, type: 'application.created' } as never), { code: 'invalid_event', field: 'type' })
})

t.test('emit rejects an event whose body is longer than maxEventBytes, and records nothing', async (t) => {
  const { addWebhook, start, storage } = createMachines(t)
  const receiver = await startReceiver(t)
  await addWebhook(receiver.url)
  const engine = start({ maxEventBytes: 2000 })
  const emit = (note: string) => engine.emit({ ...event, data: { note } })
  await emit('')
  await engine.drain()
  const room = 2000 - Buffer.byteLength(first(receiver.requests).body)
  // Each of these letters is two bytes.
  for (const note of ['x'.repeat(room + 1), 'é'.repeat(Math.floor(room / 2) + 1)]) {
    const bytes = 2000 - room + Buffer.byteLength(note)
    await t.rejects(emit(note), {
      code: 'invalid_event', field: 'data', message: `data: expected an event whose body is at most 2000 bytes, got ${bytes}`
    })
  }
  t.match(await storage.deliveries.stats(), { pending: 0 })
  await emit('x'.repeat(room))
  await engine.drain()
  t.equal(Buffer.byteLength(receiver.requests[1]?.body ?? ''), 2000)
})

t.test('an event is posted with id, type, timestamp, sequence, tenant_slug and data, in this order', async (t) => {
  const { app, clock, receiver, webhook, drain } = await startDelivering(t)
  const data = { id: 7, candidate: { full_name: 'Zoë 🦊' }, tags: [], note: null }
  const unsent = { subject: 'candidate:42', idempotencyKey: 'key-17' }
  const emitted = await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data, ...unsent })
  await drain()
  const { method, path, headers, body } = first(receiver.requests)
  t.same(emitted, { id: emitted.id, deliveries: 1 })
  t.match(emitted.id, /^evt_[0-9a-f]{32}$/)
  t.equal(`${method} ${path}`, 'POST /hook')
  t.equal(body, JSON.stringify({ id: emitted.id, type: 'application.created', timestamp: timeOf(clock), sequence: JSON.parse(body).sequence, tenant_slug: 'acme', data }))
  t.match(JSON.parse(body).sequence, /^\d{16}$/)
  t.equal(headers['content-type'], 'application/json')
  t.equal(headers['content-length'], String(Buffer.byteLength(body)))
  t.equal(headers['webhook-id'], emitted.id)
  for (const text of [webhook.secret, ...Object.values(unsent)]) t.notOk(JSON.stringify([headers, body]).includes(text))
})

t.test('the timestamp of the payload is occurredAt, in UTC with milliseconds', async (t) => {
  const { app, receiver, drain } = await startDelivering(t)
  for (const occurredAt of ['2026-03-01T10:30:00+01:00', new Date('2026-03-02T00:00:00.123Z')]) {
    await app.recruiting.emit({ ...event, occurredAt })
  }
  await drain()
  const timestamps = receiver.requests.map(({ body }) => JSON.parse(body).timestamp)
  t.same(timestamps.sort(), ['2026-03-01T09:30:00.000Z', '2026-03-02T00:00:00.123Z'])
})

t.test('changes by the host after emit are not sent', async (t) => {
  const { receiver, emit, drain } = await startDelivering(t)
  const data = { id: 1, list: [1] }
  const emitting = emit(data)
  data.list.push(2)
  await emitting
  data.id = 2
  await drain()
  t.same(JSON.parse(first(receiver.requests).body).data, { id: 1, list: [1] })
})

const keyed = { ...event, idempotencyKey: 'hire-17' }
const conflict = {
  code: 'idempotency_conflict', field: 'idempotencyKey', message: 'idempotencyKey: was used before for a different event'
}

t.test('an idempotency key used for a different event is a conflict, and nothing is recorded', async (t) => {
  const { addWebhook, deliveries, start } = createMachines(t)
  const id = await addWebhook('https://example.com/')
  const engine = start({ delivery: { worker: false } })
  await engine.emit(keyed)
  for (const change of [
    { data: { id: 2 } }, { type: 'application.updated' }, { subject: 'candidate:42' },
    { subjects: ['candidate:42', 'job:7'] }, { occurredAt: '2026-01-01T00:00:00Z' }
  ]) {
    await t.rejects(engine.emit({ ...keyed, ...change } as typeof keyed), conflict, JSON.stringify(change))
  }
  t.same(await deliveries(id), [['pending', 0]])
})

t.test('the same instant in another form, or a later emit without a time, is the same event', async (t) => {
  const { clock, start } = createMachines(t)
  const engine = start({ delivery: { worker: false } })
  const first = await engine.emit({ ...keyed, occurredAt: '2026-01-01T01:00:00+01:00' })
  t.equal((await engine.emit({ ...keyed, occurredAt: new Date('2026-01-01T00:00:00Z') })).id, first.id)
  const untimed = { ...keyed, idempotencyKey: 'hire-18' }
  const second = await engine.emit(untimed)
  await clock.advance(60_000)
  t.equal((await engine.emit(untimed)).id, second.id)
})

t.test('references between events resolve within their own catalogue, even next to other catalogues', async (t) => {
  const letter = Type.Object({ offer: Type.Unsafe<object>({ $ref: 'Offer' }) })
  for (const [salary, good, bad] of [[Type.Integer(), 1, 'much'], [Type.String(), 'much', 1]] as const) {
    const events = { 'offer.made': Type.Object({ salary }, { $id: 'Offer' }), 'letter.sent': letter }
    const recruiting = createRecruiting({ storage: memoryStorage(), delivery: false, events })
    t.teardown(() => recruiting.close())
    const emit = (value: unknown) => recruiting.emit({ tenantSlug: 'acme', type: 'letter.sent', data: { offer: { salary: value } } })
    t.match(await emit(good), { id: String })
    await t.rejects(emit(bad), { code: 'invalid_event', field: 'data.offer.salary' })
  }
})

t.test('event ids are evt_ and 32 hexadecimal digits, and unique', async (t) => {
  const ids = Array.from({ length: 1000 }, () => generateEventId(Date.now()))
  for (const id of ids.slice(0, 10)) t.match(id, /^evt_[0-9a-f]{32}$/)
  t.equal(new Set(ids).size, 1000)
  for (let at = 16; at < 36; at++) t.equal(new Set(ids.map((id) => id[at])).size, 16, `digit ${at} is random`)
})

t.test('data is validated as it is sent', async (t) => {
  const events = { 'job.created': Type.Object({ at: Type.String({ format: 'date-time' }) }) }
  const recruiting = createRecruiting({ storage: memoryStorage(), delivery: false, events })
  t.teardown(() => recruiting.close())
  const emit = (at: unknown) => recruiting.emit({ tenantSlug: 'acme', type: 'job.created', data: { at } as never })
  await emit(new Date())
  await t.rejects(emit({ toJSON: () => 7 }), { code: 'invalid_event', field: 'data.at' })
  await t.rejects(emit(new Date(Number.NaN)), { code: 'invalid_event', field: 'data.at' })
})

import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { type DeliveryOptions, isRecruitingApiError } from '../../src/index.js'
import { checkError, comparable } from '../fixtures/api/answers.js'
import { webhookInput } from '../fixtures/api/webhook-api.js'
import { collect } from '../fixtures/collect.js'
import { createToken } from '../fixtures/portal/sessions.js'
import { type ReceivedRequest, startReceiver } from '../fixtures/receivers/receiver.js'
import { changedIds, followSync, requestSync } from '../fixtures/sync/sync-client.js'
import { callsOf } from '../fixtures/tenants/calls.js'
import { type Vendor, type VendorServer, createVendor } from '../fixtures/tenants/vendor.js'

const restMs = 61 * 60 * 1000
const event = { tenantSlug: 'acme', type: 'application.created', data: { id: 1 }, subject: 'candidate:1', idempotencyKey: 'once' } as const
const post = { method: 'POST', payload: webhookInput } as const

interface Created { id: number, secret: string }
interface FeedPage { data: Array<{ id: string }>, meta: { next_token: string } }

/** A vendor that can hand the slug `acme` over to another tenant, whose key is `new-key`. */
interface HandOver extends Vendor {
  server: VendorServer
  handOver (): Promise<void>
}

/** Renames the tenant. Another one takes the slug immediately. */
async function handOverById ({ companies, keys }: Vendor, { app }: VendorServer): Promise<void> {
  companies.delete('acme')
  companies.set('acme-old', 41)
  await app.recruiting.renameTenant('acme', 'acme-old')
  companies.set('acme', 42)
  keys.set('new-key', '42')
}

/** Removes the tenant. Another one takes the slug as soon as it has rested. */
async function handOverByRest ({ keys, pass }: Vendor, { app }: VendorServer): Promise<void> {
  await app.recruiting.removeTenant('acme')
  keys.delete('old-key')
  await pass(restMs)
  keys.set('new-key', 'acme')
}

/** Runs a test for each way to hand a slug over. */
function testHandOvers (
  title: string, run: (t: Test, setup: HandOver) => Promise<void>, delivery?: DeliveryOptions
): void {
  for (const hasIds of [true, false]) {
    t.test(`${title} (${hasIds ? 'by id' : 'after the rest'})`, async (t) => {
      const vendor = await createVendor(t, { hasIds })
      const server = await vendor.start(delivery)
      const handOver = hasIds ? handOverById : handOverByRest
      await run(t, { ...vendor, server, handOver: () => handOver(vendor, server) })
    })
  }
}

testHandOvers("for the slug's next tenant, an old session and a cached old key get the 401 of an unknown key", async (t, { server, handOver }) => {
  const { app, ask, read } = server
  const { token } = await app.recruiting.portal.createSession({ tenantSlug: 'acme', actor: 'user:17', expiresInSeconds: 3600 })
  for (const key of [token, 'old-key']) t.equal((await ask('/acme/webhooks', key)).statusCode, 200, 'before')
  await handOver()
  const { id } = await read<Created>('/acme/webhooks', 'new-key', post)
  for (const [path, request] of [
    ['candidates', {}], ['webhooks', {}], ['webhooks', post], [`webhooks/${id}/rotate_secret`, { method: 'POST' }]
  ] as const) {
    const unknown = await ask(`/acme/${path}`, 'unknown', request)
    checkError(t, unknown, 401)
    for (const key of [token, 'old-key']) t.equal(comparable(await ask(`/acme/${path}`, key, request)), comparable(unknown), path)
  }
  t.equal((await ask('/acme/candidates', 'new-key')).statusCode, 200)
  t.equal((await read<unknown[]>('/acme/webhooks', 'new-key')).length, 1)
})

testHandOvers("a next-page link gets 401 with the previous tenant's key, and the next tenant's rows with its own", async (t, setup) => {
  const { server: { ask }, setCandidates, keys, handOver } = setup
  await setCandidates(String(keys.get('old-key')), [1, 2, 3])
  const { headers } = await ask('/acme/candidates?per_page=1', 'old-key')
  const next = /<\/api\/v1\/public([^>]*)>; rel="next"/.exec(String(headers.link))?.[1] ?? ''
  t.match(next, '/acme/candidates?')
  await handOver()
  await setCandidates(String(keys.get('new-key')), [11, 12])
  checkError(t, await ask(next, 'old-key'), 401)
  const { data } = JSON.parse((await ask(next, 'new-key')).body) as { data: Array<{ id: number }> }
  t.same(data.map(({ id }) => id), [12])
})

for (const [title, change] of [
  ['that changed rows', (app: FastifyInstance) => app.recruiting.changed({ tenantSlug: 'acme', kind: 'candidate', id: 1 })],
  ['that changed nothing', async () => {}]
] as const) {
  testHandOvers(`the sync token of a tenant ${title} gets 410 with the next tenant's key`, async (t, setup) => {
    const { server: { app }, setCandidates, keys, handOver } = setup
    await setCandidates(String(keys.get('old-key')), [1])
    const { token } = await followSync(app, { key: 'old-key' })
    await change(app)
    await handOver()
    checkError(t, await requestSync(app, { key: 'new-key', token }), 410, 'at once')
    await setCandidates(String(keys.get('new-key')), [11])
    checkError(t, await requestSync(app, { key: 'new-key', token }), 410, 'after a change')
    const fresh = await followSync(app, { key: 'new-key' })
    t.equal((await requestSync(app, { key: 'new-key', token: fresh.token })).statusCode, 200)
  })
}

testHandOvers("the feed contains no events of the slug's previous tenant, and its tokens get 410", async (t, { server: { app, ask }, handOver }) => {
  const { id } = await app.recruiting.emit(event)
  const read = async (key: string, query = ''): Promise<FeedPage> => JSON.parse((await ask(`/acme/events${query}`, key)).body)
  const [begun, current] = [await read('old-key', '?per_page=1'), await read('old-key', '?token=now')]
  t.strictSame(begun.data.map((shown) => shown.id), [id])
  await handOver()
  for (const { meta } of [begun, current]) checkError(t, await ask(`/acme/events?token=${meta.next_token}`, 'new-key'), 410)
  const fresh = await read('new-key')
  t.strictSame(fresh.data, [])
  const { id: next } = await app.recruiting.emit(event)
  for (const query of ['', `?token=${fresh.meta.next_token}`]) t.strictSame((await read('new-key', query)).data.map((shown) => shown.id), [next], query)
  for (const { meta } of [begun, current]) checkError(t, await ask(`/acme/events?token=${meta.next_token}`, 'new-key'), 410, 'after an event')
})

testHandOvers("subjects and idempotency keys of the slug's previous tenant do not affect the next one", async (t, { server: { app }, handOver }) => {
  const { recruiting } = app
  const find = async () => (await collect(recruiting.findSubject('acme', 'candidate:1'))).length
  const { id } = await recruiting.emit(event)
  t.equal(await find(), 1)
  await handOver()
  t.equal(await find(), 0)
  t.equal(await recruiting.erase({ tenantSlug: 'acme', subject: 'candidate:1' }), 0)
  const { id: next } = await recruiting.emit({ ...event, data: { id: 2 } })
  t.not(next, id)
})

testHandOvers("webhooks, deliveries and events do not exist for the slug's next tenant", async (t, { server, handOver }) => {
  const { app, ask, read } = server
  const old = await read<Created>('/acme/webhooks', 'old-key', post)
  const { id: eventId } = await app.recruiting.emit(event)
  const [delivery] = await read<Array<{ id: number }>>(`/acme/webhooks/${old.id}/deliveries`, 'old-key')
  const retry = `/deliveries/${delivery?.id}/retry`
  await handOver()
  for (const path of ['', '/deliveries', `/deliveries/${delivery?.id}`]) {
    t.equal((await ask(`/acme/webhooks/${old.id}${path}`, 'new-key')).statusCode, 404, path)
  }
  for (const path of ['/replay', retry, '/rotate_secret', '/dispatch_test']) {
    t.equal((await ask(`/acme/webhooks/${old.id}${path}`, 'new-key', { method: 'POST' })).statusCode, 404, path)
  }
  t.same(await read('/acme/webhooks', 'new-key'), [])
  const { id } = await read<Created>('/acme/webhooks', 'new-key', post)
  for (const payload of [{ include: 'all', event_ids: [eventId] }, { include: 'all', since: '2020-01-01T00:00:00Z' }]) {
    t.match(await read(`/acme/webhooks/${id}/replay`, 'new-key', { method: 'POST', payload }), { queued: 0 })
  }
  t.equal((await ask(`/acme/webhooks/${id}${retry}`, 'new-key', { method: 'POST' })).statusCode, 404)
  t.same(await read(`/acme/webhooks/${id}/deliveries`, 'new-key'), [])
})

function create ({ read }: VendorServer, key: string, targetUrl: string): Promise<Created> {
  return read('/acme/webhooks', key, { method: 'POST', payload: { ...webhookInput, target_url: targetUrl } })
}

/** Checks the signature at the request's own time, because the clock jumps in these tests. */
function isSignedBy ({ secret }: Created, { headers, body }: ReceivedRequest): boolean {
  const id = String(headers['webhook-id'])
  const time = new Date(Number(headers['webhook-timestamp']) * 1000)
  return headers['webhook-signature'] === new Webhook(secret).sign(id, time, body)
}

testHandOvers("an attempt in flight and its retries stay with the slug's previous tenant", async (t, setup) => {
  const { server, handOver, pass } = setup
  const [oldReceiver, newReceiver] = [await startReceiver(t), await startReceiver(t)]
  const old = await create(server, 'old-key', oldReceiver.url)
  let held: ServerResponse | undefined
  oldReceiver.answer((response) => { held = response }, 204)
  await server.app.recruiting.emit(event)
  await oldReceiver.received(1)
  await handOver()
  const next = await create(server, 'new-key', newReceiver.url)
  held?.writeHead(500).end()
  t.same(await server.read(`/acme/webhooks/${next.id}/deliveries`, 'new-key'), [], 'the log of the next tenant')
  await server.app.recruiting.emit({ ...event, data: { id: 2 } })
  const [received] = await newReceiver.received(1)
  await pass(10_000)
  t.match(JSON.parse(received?.body ?? ''), { data: { id: 2 } })
  t.ok(received !== undefined && isSignedBy(next, received))
  t.ok(oldReceiver.requests.every((request) => isSignedBy(old, request) && /"data":\{"id":1\}/.test(request.body)))
  t.same(newReceiver.requests.length, 1)
}, { worker: true })

testHandOvers("a test notification in flight is signed with its own tenant's secret", async (t, { server, handOver }) => {
  const receiver = await startReceiver(t)
  const old = await create(server, 'old-key', receiver.url)
  let held: ServerResponse | undefined
  receiver.answer((response) => { held = response }, 204)
  const testing = server.ask(`/acme/webhooks/${old.id}/dispatch_test`, 'old-key', { method: 'POST' })
  const [received] = await receiver.received(1)
  await handOver()
  held?.writeHead(204).end()
  t.equal((await testing).statusCode, 200)
  t.ok(received !== undefined && isSignedBy(old, received))
  t.same(await server.read('/acme/webhooks', 'new-key'), [])
})

t.test('a renamed tenant with an id keeps everything', async (t) => {
  const { companies, setCandidates, start } = await createVendor(t, { hasIds: true })
  const { app, ask, read } = await start()
  await setCandidates('41', [1])
  const session = await createToken(app)
  const { token } = await followSync(app, { key: 'old-key' })
  const webhook = await read<Created>('/acme/webhooks', 'old-key', post)
  const { id } = await app.recruiting.emit(event)
  companies.delete('acme')
  companies.set('acme-old', 41)
  t.same(await app.recruiting.renameTenant('acme', 'acme-old'), { webhooks: 1 })
  for (const key of ['old-key', session]) {
    t.equal((await ask('/acme-old/webhooks', key)).statusCode, 200)
    checkError(t, await ask('/acme/webhooks', key), 401, 'the old slug')
  }
  t.equal((await app.recruiting.emit({ ...event, tenantSlug: 'acme-old' })).id, id)
  t.equal((await read<unknown[]>(`/acme-old/webhooks/${webhook.id}/deliveries`, 'old-key')).length, 1)
  t.equal(await app.recruiting.erase({ tenantSlug: 'acme-old', subject: 'candidate:1' }), 1)
  await setCandidates('41', [1, 2])
  await app.recruiting.changed({ tenantSlug: 'acme-old', kind: 'candidate', id: 2 })
  const { pages } = await followSync(app, { tenantSlug: 'acme-old', key: 'old-key', token })
  t.ok(changedIds(pages).includes('2'))
})

t.test('removing a tenant by id does not affect the next tenant with its slug', async (t) => {
  const { companies, keys, start } = await createVendor(t, { hasIds: true })
  const { app, read } = await start()
  await read('/acme/webhooks', 'old-key', post)
  companies.set('acme', 42)
  keys.set('new-key', '42')
  await read('/acme/webhooks', 'new-key', post)
  t.same(await app.recruiting.removeTenant({ tenantId: 41 }), { left: 0 })
  t.equal((await read<unknown[]>('/acme/webhooks', 'new-key')).length, 1)
  companies.set('acme-old', 41)
  t.same(await read('/acme-old/webhooks', 'old-key'), [])
})

t.test('a session becomes invalid when a tenant without an id is renamed', async (t) => {
  const { keys, start } = await createVendor(t, { hasIds: false })
  const { app, ask } = await start()
  const token = await createToken(app)
  await app.recruiting.renameTenant('acme', 'acme-old')
  keys.set('renamed-key', 'acme-old')
  checkError(t, await ask('/acme/webhooks', token), 401, 'the old slug')
  checkError(t, await ask('/acme-old/webhooks', token), 401, 'the new slug')
  t.equal((await ask('/acme-old/webhooks', 'renamed-key')).statusCode, 200)
})

async function codeOf (call: Promise<unknown>): Promise<unknown[]> {
  return call.then(() => ['no error'], (error: unknown) => isRecruitingApiError(error) ? [error.code, error.until, error.field] : [error])
}

for (const [title, end] of [
  ['removed', ({ app }: VendorServer) => app.recruiting.removeTenant('acme')],
  ['renamed', ({ app }: VendorServer) => app.recruiting.renameTenant('acme', 'acme-new')]
] as const) {
  t.test(`the slug of a ${title} tenant cannot be used for 61 minutes`, async (t) => {
    const { clock, pass, start } = await createVendor(t, { hasIds: false })
    const server = await start()
    const { recruiting } = server.app
    await server.read('/acme/webhooks', 'old-key', post)
    const { removeTenant, ...calls } = callsOf(recruiting)
    calls.renameTenant = () => recruiting.renameTenant('globex', 'acme')
    const from = clock.now()
    await end(server)
    for (const at of [0, restMs - 1000]) {
      await pass(at)
      checkError(t, await server.ask('/acme/candidates', 'old-key'), 401, `after ${at} ms, a list`)
      checkError(t, await server.ask('/acme/webhooks', 'old-key', post), 401, `after ${at} ms, a new webhook`)
      for (const [name, call] of Object.entries(calls)) {
        const [code, until, field] = await codeOf(call({ tenantSlug: 'acme' } as never))
        t.same([code, field], ['tenant_resting', 'tenantSlug'], `after ${at} ms, ${name}`)
        const restedMs = Date.parse(String(until)) - from
        if (at === 0) t.ok(Math.abs(restedMs - restMs) < 60_000, `${name} has the end of the rest, ${restedMs} ms`)
      }
    }
    await pass(2000)
    await recruiting.emit(event)
    t.equal((await server.ask('/acme/webhooks', 'old-key', post)).statusCode, 201)
  })
}

t.test('another process learns within 5 seconds that a slug rests, and stores nothing for it until then', async (t) => {
  const { pass, start } = await createVendor(t, { hasIds: false })
  const [first, second] = [await start(), await start()]
  t.equal((await second.ask('/acme/candidates', 'old-key')).statusCode, 200)
  await first.app.recruiting.removeTenant('acme')
  checkError(t, await second.ask('/acme/webhooks', 'old-key', post), 401, 'a new webhook at once')
  t.equal((await codeOf(second.app.recruiting.emit(event)))[0], 'tenant_resting', 'an emit at once')
  await pass(5001)
  checkError(t, await second.ask('/acme/candidates', 'old-key'), 401, 'a list after 5 seconds')
  t.same(await first.app.recruiting.removeTenant('acme'), { left: 0 }, 'nothing was recorded')
})

t.test('sessions and cached keys also become invalid in a process that learns of a removal late', async (t) => {
  const { keys, pass, start } = await createVendor(t, { hasIds: false })
  const [first, second] = [await start(), await start()]
  await second.ask('/acme/candidates', 'unknown')
  await pass(59_000)
  // The first request starts another read of resting names, which finishes before the other requests.
  for (let asked = 0; asked < 3; asked++) await second.ask('/acme/candidates', 'unknown')
  await first.app.recruiting.removeTenant('acme')
  await pass(1000)
  const session = { tenantSlug: 'acme', actor: 'user:17', expiresInSeconds: 3600 }
  const { token } = await second.app.recruiting.portal.createSession(session)
  t.equal((await second.ask('/acme/candidates', 'old-key')).statusCode, 200, 'it has not learned yet')
  keys.delete('old-key')
  await pass(restMs - 1000)
  keys.set('new-key', 'acme')
  await second.read('/acme/webhooks', 'new-key', post)
  for (const key of [token, 'old-key']) checkError(t, await second.ask('/acme/webhooks', key), 401)
})

import type { Test } from 'tap'
import { checkError } from '../../fixtures/api/answers.js'
import { collect } from '../../fixtures/collect.js'
import { webhookInput } from '../../fixtures/api/webhook-api.js'
import { testHandOvers } from '../../fixtures/tenants/hand-over.js'
import { type CreateTenantStore, createVendor } from '../../fixtures/tenants/vendor.js'

const event = { tenantSlug: 'acme', type: 'application.created', data: { id: 1 }, subject: 'candidate:1', idempotencyKey: 'once' } as const
interface Shown { id: number }
interface FeedPage { data: Array<{ id: string }>, meta: { next_token: string } }

/** What a tenant's events leave: idempotency keys, subjects, deliveries. */
export function testEvents (t: Test, createStore: CreateTenantStore): void {
  testHandOvers(t, createStore, 'an idempotency key of a tenant is free for the next one with its slug', async (t, { server: { app }, handOver }) => {
    const { id } = await app.recruiting.emit(event)
    await handOver()
    const { id: next } = await app.recruiting.emit({ ...event, data: { id: 2 } })
    t.not(next, id)
  })

  testHandOvers(t, createStore, 'the feed shows nothing of the previous tenant with the slug, and its tokens get 410', async (t, { server: { app, ask }, handOver }) => {
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

  testHandOvers(t, createStore, 'finding a subject finds nothing of the previous tenant with the slug', async (t, { server: { app }, handOver }) => {
    await app.recruiting.emit(event)
    t.equal((await collect(app.recruiting.findSubject('acme', 'candidate:1'))).length, 1)
    await handOver()
    t.same(await collect(app.recruiting.findSubject('acme', 'candidate:1')), [])
  })

  testHandOvers(t, createStore, 'erasing a subject keeps the events of the previous tenant with the slug', async (t, { server: { app }, handOver }) => {
    await app.recruiting.emit(event)
    await handOver()
    t.equal(await app.recruiting.erase({ tenantSlug: 'acme', subject: 'candidate:1' }), 0)
  })

  testHandOvers(t, createStore, 'a webhook and its log do not exist for the next tenant with the slug', async (t, { server, handOver }) => {
    const { app, ask, read } = server
    const { id } = await read<Shown>('/acme/webhooks', 'old-key', { method: 'POST', payload: webhookInput })
    await app.recruiting.emit(event)
    const [delivery] = await read<Shown[]>(`/acme/webhooks/${id}/deliveries`, 'old-key')
    await handOver()
    for (const path of ['', '/deliveries', `/deliveries/${delivery?.id}`]) {
      t.equal((await ask(`/acme/webhooks/${id}${path}`, 'new-key')).statusCode, 404, path)
    }
    for (const path of ['/replay', `/deliveries/${delivery?.id}/retry`, '/rotate_secret', '/dispatch_test']) {
      t.equal((await ask(`/acme/webhooks/${id}${path}`, 'new-key', { method: 'POST' })).statusCode, 404, path)
    }
    t.same(await read('/acme/webhooks', 'new-key'), [])
  })

  testHandOvers(t, createStore, 'a replay and a retry bring no events of the previous tenant with the slug', async (t, { server, handOver }) => {
    const { app, ask, read } = server
    const old = await read<Shown>('/acme/webhooks', 'old-key', { method: 'POST', payload: webhookInput })
    const { id: eventId } = await app.recruiting.emit(event)
    const [delivery] = await read<Shown[]>(`/acme/webhooks/${old.id}/deliveries`, 'old-key')
    await handOver()
    const { id } = await read<Shown>('/acme/webhooks', 'new-key', { method: 'POST', payload: webhookInput })
    for (const payload of [{ include: 'all', event_ids: [eventId] }, { include: 'all', since: '2020-01-01T00:00:00Z' }]) {
      const { queued } = await read<{ queued: number }>(`/acme/webhooks/${id}/replay`, 'new-key', { method: 'POST', payload })
      t.equal(queued, 0)
    }
    t.equal((await ask(`/acme/webhooks/${id}/deliveries/${delivery?.id}/retry`, 'new-key', { method: 'POST' })).statusCode, 404)
    t.same(await read(`/acme/webhooks/${id}/deliveries`, 'new-key'), [])
  })

  t.test('webhooks, idempotency keys and subjects go along when a tenant with an id is renamed', async (t) => {
    const { companies, start } = await createVendor(t, { createStore, hasIds: true })
    const { app, read } = await start()
    const webhook = await read<Shown>('/acme/webhooks', 'old-key', { method: 'POST', payload: webhookInput })
    const { id } = await app.recruiting.emit(event)
    companies.delete('acme')
    companies.set('acme-old', 41)
    t.same(await app.recruiting.renameTenant('acme', 'acme-old'), { webhooks: 1 })
    t.equal((await app.recruiting.emit({ ...event, tenantSlug: 'acme-old' })).id, id)
    t.equal((await read<unknown[]>(`/acme-old/webhooks/${webhook.id}/deliveries`, 'old-key')).length, 1)
    t.equal(await app.recruiting.erase({ tenantSlug: 'acme-old', subject: 'candidate:1' }), 1)
  })

  t.test('removing a tenant by its id keeps the next tenant with its slug', async (t) => {
    const { companies, keys, start } = await createVendor(t, { createStore, hasIds: true })
    const { app, read } = await start()
    await read('/acme/webhooks', 'old-key', { method: 'POST', payload: webhookInput })
    companies.set('acme', 42)
    keys.set('new-key', '42')
    await read('/acme/webhooks', 'new-key', { method: 'POST', payload: webhookInput })
    t.same(await app.recruiting.removeTenant({ tenantId: 41 }), { left: 0 })
    t.equal((await read<unknown[]>('/acme/webhooks', 'new-key')).length, 1)
    companies.set('acme-old', 41)
    t.same(await read('/acme-old/webhooks', 'old-key'), [])
  })
}

import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { recordEvents } from '../../src/testing/index.js'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'
import { toLoopback } from '../fixtures/api/webhook-api.js'
import { storeWebhook } from '../fixtures/api/webhooks.js'

const event = { tenantSlug: 'acme', type: 'application.created', data: { id: 1 } } as const

t.test('a server of the host on the storage of a recorder answers, and its events are recorded and not sent', async (t) => {
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

t.test('every call that takes a transaction takes any handle', async (t) => {
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

t.test('options of the host come with an engine of its own on the storage', async (t) => {
  const { storage, events } = recordEvents()
  const recruiting = createRecruiting({ storage, ids: { candidate: 'string' }, maxEventBytes: 1024, delivery: false })
  t.teardown(() => recruiting.close())
  await recruiting.changed({ tenantSlug: 'acme', kind: 'candidate', id: 'ada' }, { transaction: 'tx' })
  await t.rejects(recruiting.emit({ ...event, data: { text: 'x'.repeat(1024) } }), { code: 'invalid_event', field: 'data' })
  await recruiting.emit(event, { transaction: 'tx' })
  t.equal(events.length, 1)
})

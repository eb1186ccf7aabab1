import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { memoryStorage } from '../../src/memory/index.js'
import { checkError } from '../fixtures/api/answers.js'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'
import { silentLogger } from '../fixtures/delivery/silent-logger.js'

const url = '/api/v1/public/acme/webhooks/preview'
const headers = bearer(keys.full)

t.test('a preview counts the latest 100 events of the types, and those that match the filters', async (t) => {
  const app = await buildApp(t)
  const preview = async (payload: object) => (await app.inject({ method: 'POST', url, headers, payload })).json()
  t.strictSame(await preview({ event_types: ['job.closed'] }), { data: { events: 0, matching: 0 } })
  for (let id = 1; id <= 110; id++) {
    await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: { id, stage: id % 4 === 0 ? 'offer' : null } })
  }
  await app.recruiting.emit({ tenantSlug: 'acme', type: 'job.closed', data: { stage: 'offer' } })
  await app.recruiting.emit({ tenantSlug: 'globex', type: 'application.created', data: { stage: 'offer' } })
  const types = { event_types: ['application.created'] }
  t.strictSame(await preview(types), { data: { events: 100, matching: 100 } })
  t.strictSame(await preview({ ...types, filters: null }), { data: { events: 100, matching: 100 } })
  t.strictSame(await preview({ ...types, filters: { 'data.stage': ['offer'] } }), { data: { events: 100, matching: 25 } })
  t.strictSame(await preview({ ...types, filters: { 'data.stage': [null], 'data.id': [11, 12, 1] } }), { data: { events: 100, matching: 1 } })
  t.strictSame(await preview({ event_types: ['job.closed', 'job.created'], filters: { 'data.stage': ['offer'] } }), { data: { events: 1, matching: 1 } })
  t.strictSame((await app.inject({ url: '/api/v1/public/acme/webhooks', headers })).json().data, [], 'it creates nothing')
})

t.test('a preview has the same rules as a webhook', async (t) => {
  const app = await buildApp(t)
  for (const payload of [
    {}, { event_types: [] }, { event_types: ['job.lost'] }, { event_types: ['job.closed'], filters: { id: ['x'] } },
    { event_types: ['job.closed'], name: 'CRM' }
  ]) {
    checkError(t, await app.inject({ method: 'POST', url, headers, payload }), 400, JSON.stringify(payload))
  }
  checkError(t, await app.inject({ method: 'POST', url, headers: bearer(keys.webhooksRead), payload: { event_types: ['job.closed'] } }), 403)
})

t.test('by code it returns the same, and names what is wrong', async (t) => {
  const { webhooks } = (await buildApp(t)).recruiting
  t.strictSame(await webhooks.preview('acme', { event_types: ['job.closed'] }), { events: 0, matching: 0 })
  await t.rejects(webhooks.preview('acme', { event_types: ['job.lost'] }), { code: 'invalid_input', field: 'event_types[0]' })
})

t.test('without a feed there is no preview', async (t) => {
  const { feed, ...storage } = memoryStorage()
  const app = await buildApp(t, { storage })
  checkError(t, await app.inject({ method: 'POST', url, headers, payload: { event_types: ['job.closed'] } }), 404)
  const recruiting = createRecruiting({ storage, delivery: false, logger: silentLogger })
  t.teardown(() => recruiting.close())
  await t.rejects(recruiting.webhooks.preview('acme', { event_types: ['job.closed'] }), { code: 'invalid_option', message: /storage\.feed: expected a storage with a feed/ })
})

import t from 'tap'
import { memoryStorage } from '../../../src/memory/index.js'
import { bearer, keys, tenants } from '../../fixtures/api/app.js'
import { buildAppWithRoutes, titleOf, urlOf } from '../../fixtures/api/routes.js'
import { recordEvents, storeWebhook } from '../../fixtures/api/webhooks.js'

const bodies: Record<string, object> = {
  'POST /webhooks/preview': { event_types: ['job.created'] },
  'POST /webhooks': { name: 'Another', target_url: 'https://example.com/', event_types: ['job.created'] },
  'PATCH /webhooks/:id': { name: 'Renamed' }
}

t.test('every operation that succeeds answers with the headers of the contract', async (t) => {
  const storage = memoryStorage({ tenants })
  await storeWebhook(storage, 'acme')
  await recordEvents(storage, 'acme', 1)
  const { app, routes } = await buildAppWithRoutes(t, { storage })
  // The one that deletes the webhook comes last.
  const ordered = routes.toSorted((a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'))
  for (const route of ordered) {
    const payload = bodies[titleOf(route)]
    const { statusCode, headers } = await app.inject({
      method: route.method as 'GET',
      url: urlOf(route),
      headers: bearer(keys.full),
      ...(payload === undefined ? {} : { payload })
    })
    t.ok(statusCode >= 200 && statusCode < 300, `${titleOf(route)} succeeds`)
    t.same({
      type: headers['content-type'],
      cache: headers['cache-control'],
      sniffing: headers['x-content-type-options'],
      challenge: headers['www-authenticate'],
      hasRequestId: /^req_\S{20,}$/.test(String(headers['x-request-id']))
    }, {
      type: statusCode === 204 ? undefined : 'application/json; charset=utf-8',
      cache: 'no-store',
      sniffing: 'nosniff',
      challenge: undefined,
      hasRequestId: true
    }, titleOf(route))
  }
})

t.test('a deleted webhook is answered with 204 and nothing more', async (t) => {
  const storage = memoryStorage({ tenants })
  await storeWebhook(storage, 'acme')
  const { app } = await buildAppWithRoutes(t, { storage })
  const { statusCode, body, headers } = await app.inject({ method: 'DELETE', url: '/api/v1/public/acme/webhooks/1', headers: bearer(keys.full) })
  t.same([statusCode, body, headers['content-length']], [204, '', undefined])
})

import t from 'tap'
import { keys, bearer } from '../fixtures/api/app.js'
import { startDelivering } from '../fixtures/delivery/delivering.js'

const operations = [
  ['POST', '/rotate_secret', 200],
  ['POST', '/dispatch_test', 200],
  ['POST', '/replay', 202],
  ['GET', '', 200],
  ['GET', '/deliveries', 200],
  ['DELETE', '', 204]
] as const

for (const [method, path, status] of operations) {
  t.test(`${method} :id${path} takes an empty body of application/json for none`, async (t) => {
    const { app, webhook } = await startDelivering(t)
    const { statusCode } = await app.inject({
      method,
      url: `/api/v1/public/acme/webhooks/${webhook.id}${path}`,
      headers: { ...bearer(keys.full), 'content-type': 'application/json', 'content-length': '0' }
    })
    t.equal(statusCode, status)
  })
}

import t from 'tap'
import { buildApp } from '../fixtures/app.js'
import type { OpenApi } from '../fixtures/document.js'

const url = '/api/v1/public/openapi.json'

t.test('429 is in the document of every operation with limits, and of none without', async (t) => {
  for (const rateLimit of [{}, undefined]) {
    const app = await buildApp(t, rateLimit === undefined ? {} : { rateLimit })
    const { paths, components } = (await app.inject(url)).json<OpenApi>()
    const operations = Object.values(paths).flatMap((item) => Object.values(item))
    t.ok(operations.length >= 12)
    for (const { operationId, responses } of operations) t.equal('429' in responses, rateLimit !== undefined, operationId)
    const { RateLimited: limited } = components.responses
    if (rateLimit === undefined) t.equal(limited, undefined)
    else t.same(Object.keys(limited?.headers ?? {}), ['x-request-id', 'retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'])
  }
})

import t from 'tap'
import { checkError } from '../fixtures/api/answers.js'
import { buildApp } from '../fixtures/api/app.js'
import type { OpenApi } from '../fixtures/api/document.js'
import { buildLimited, checkLimited } from '../fixtures/api/limits.js'

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

t.test('requests for the document are limited by their address, as those with a key are by their key', async (t) => {
  const { app, ask } = await buildLimited(t, { max: 2 })
  const read = (remoteAddress: string, method: 'GET' | 'HEAD' = 'GET') => app.inject({ url, method, remoteAddress })
  t.match(await read('192.0.2.1'), { statusCode: 200, headers: { 'ratelimit-remaining': '1' } })
  t.equal((await read('192.0.2.1', 'HEAD')).statusCode, 200)
  checkLimited(t, await read('192.0.2.1'), 2)
  t.equal((await read('192.0.2.2')).statusCode, 200, 'another address')
  t.equal((await ask()).headers['ratelimit-remaining'], '1', 'a key of the same address')
})

t.test('while the store fails the document gets 500, and nobody reads why', async (t) => {
  class Store {
    incr (_key: string, done: (error: Error) => void) { done(new Error('canary')) }
  }
  const { app } = await buildLimited(t, { store: Store })
  const answer = await app.inject(url)
  checkError(t, answer, 500)
  t.notMatch(answer.body, 'canary')
})

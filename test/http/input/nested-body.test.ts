import { Type } from '@sinclair/typebox'
import t from 'tap'
import { checkError } from '../../fixtures/api/answers.js'
import { bearer, buildApp, keys } from '../../fixtures/api/app.js'
import { captureLogs } from '../../fixtures/api/logs.js'
import { sendOverSocket } from '../../fixtures/fuzz/fuzz-socket.js'

const headers = { ...bearer(keys.full), 'content-type': 'application/json' }
const url = '/api/v1/public/acme/webhooks'

function nestedArrays (depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth)
}

function nestedObjects (depth: number): string {
  return `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
}

/** The body itself is the first level. */
const payloads = [
  `{"name":${nestedArrays(100)}}`,
  `{"name":${nestedArrays(2000)}}`,
  `{"event_types":[${nestedObjects(1990)}]}`,
  `{"event_types":[${nestedObjects(2000)},${nestedObjects(2000)}]}`,
  nestedObjects(101),
  nestedObjects(10_000),
  nestedArrays(32_000)
]

t.test('a listening server answers a body nested more than 100 levels deep with a 400 that says so', async (t) => {
  const logs = captureLogs()
  const app = await buildApp(t, { errorDetails: true, server: { logger: logs.logger } })
  for (const payload of payloads) {
    logs.lines.length = 0
    const answer = await sendOverSocket(app, { method: 'POST', url, headers, payload })
    const details = [{ in: 'body', field: '', message: 'is nested more than 100 levels deep' }]
    t.equal(answer.statusCode, 400)
    t.same(JSON.parse(answer.body).error.details, details)
    t.same((await logs.waitFor('request refused')).details, details)
  }
})

t.test('without errorDetails it is the same 400 as any other', async (t) => {
  const app = await buildApp(t)
  for (const payload of payloads) checkError(t, await sendOverSocket(app, { method: 'POST', url, headers, payload }), 400)
})

t.test('a body nested 100 levels deep is read', async (t) => {
  const app = await buildApp(t, {
    async routes (app) {
      const schema = { body: Type.Unknown(), response: { 200: Type.Object({ body: Type.String() }) } }
      app.post('/anything', { config: { scopes: [] }, schema }, async ({ body }) => ({ body: JSON.stringify(body) }))
    }
  })
  for (const payload of [nestedArrays(100), nestedObjects(100)]) {
    const answer = await sendOverSocket(app, { method: 'POST', url: '/api/v1/public/acme/anything', headers, payload })
    t.same(JSON.parse(answer.body), { body: payload })
  }
})

import t from 'tap'
import { buildApp } from '../fixtures/api/app.js'
import type { OpenApi } from '../fixtures/api/document.js'

const url = '/api/v1/public/openapi.json'
const path = '/api/v1/public/{tenant_slug}/event_types'

t.test('the addresses that notifications come from are in the description of listEventTypes, and nowhere else', async (t) => {
  const app = await buildApp(t, { delivery: { sourceIps: ['203.0.113.7', '2001:db8::/32'] } })
  const answer = await app.inject(url)
  const { operationId, description } = answer.json<OpenApi>().paths[path]?.get ?? {}
  t.equal(operationId, 'listEventTypes')
  t.match(description, /an example\. Notifications come from `203\.0\.113\.7`, `2001:db8::\/32`\.\n\nNeeds /)
  t.equal(answer.body.split('203.0.113.7').length, 2)
})

t.test('without the option the document does not mention them', async (t) => {
  const app = await buildApp(t)
  const answer = await app.inject(url)
  t.match(answer.json<OpenApi>().paths[path]?.get?.description, /an example\.\n\nNeeds /)
  t.notMatch(answer.body, 'come from `')
})

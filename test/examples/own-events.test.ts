import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { request } from './fixtures/request.js'
import { runExample } from './fixtures/run-example.js'

const interview = { id: 1, candidate_id: 2, starts_at: '2026-05-04T09:00:00Z' }

t.test('an event of the vendor\'s own is checked when it is emitted, and delivered once', async (t) => {
  const bodies: unknown[] = []
  const receiver = createServer(async (request, response) => {
    bodies.push(JSON.parse(await text(request)))
    response.writeHead(204).end()
    receiver.emit('delivered')
  })
  const delivered = once(receiver, 'delivered')
  t.teardown(() => receiver.close())
  await once(receiver.listen(0, '127.0.0.1'), 'listening')
  const { port } = receiver.address() as AddressInfo

  const example = runExample(t, '03-own-events.ts', { PORT: '0' })
  const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
  const webhooks = `${origin}/api/v1/public/acme/webhooks`
  const key = 'acme-secret-key'
  const target = { name: 'Calendar', target_url: `http://127.0.0.1:${port}/`, event_types: ['interview.scheduled'] }

  const unknown = await request(webhooks, { key, body: { ...target, event_types: ['application.created'] } })
  t.equal(unknown.status, 400, 'the vendor\'s events replace those of the package')
  t.equal((await request(webhooks, { key, body: target })).status, 201)
  t.match((await request(`${origin}/api/v1/public/acme/event_types`, { key })).body, { data: [{}, { name: 'offer.accepted', deprecated: { sunset: '2027-03-01T00:00:00.000Z' } }, {}] })

  const { status, body } = await request(`${origin}/interviews`, { body: interview })
  t.equal(status, 200)
  const { id } = body as { id: string }
  t.strictSame(body, { id, deliveries: 1 })

  t.strictSame((await request(`${origin}/interviews`, { body: interview })).body, { id, deliveries: 1 }, 'the form sent twice')
  const refused = await request(`${origin}/interviews`, { body: { ...interview, id: 'two' } })
  t.equal(refused.status, 422)
  t.strictSame(refused.body, { code: 'invalid_event', field: 'data.id', message: 'data.id: must be integer' })

  const foreign = await request(`${origin}/interviews`, { body: { ...interview, id: 2, candidate_id: 3 } })
  t.equal(foreign.status, 422, 'a candidate of another tenant')
  t.strictSame(foreign.body, { field: 'candidate_id', message: 'candidate_id: must be the id of a candidate' })

  await delivered
  t.equal(await example.end('SIGTERM'), 0)
  t.match(bodies, [{ id, type: 'interview.scheduled', tenant_slug: 'acme', data: interview }])
  t.equal(bodies.length, 1)
})

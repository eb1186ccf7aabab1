import t from 'tap'
import { formatFilterBody } from '../../src/storages/postgres/deliveries/deliveries.js'
import { createEvent, createWebhook } from '../../src/tools/testing/support/samples.js'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'

t.test('an event full of half surrogate pairs is recorded and counted within the query timeout', async (t) => {
  const { storage: { deliveries, webhooks } } = await startPostgresHost(t)
  const filters = { 'data.stage': ['offer'] }
  const id = await webhooks.nextId('acme')
  await webhooks.create('acme', { ...createWebhook(id), filters }, { maxPerTenant: 10 })
  for (const unit of ['\ud800x', '\ude00', '\0', '\\\ud800"']) {
    const body = JSON.stringify({ data: { cover_letter: unit.repeat(60_000 / unit.length), stage: 'offer' } })
    const event = createEvent(`evt_${unit.codePointAt(0)}_${unit.length}`)
    t.equal((await deliveries.record('acme', { ...event, body })).deliveries, 1)
  }
  t.match(await deliveries.countReplay('acme', id, {
    include: 'all', eventTypes: null, eventIds: null, since: null, until: null, limit: 10
  }), { queued: 0 })
})

t.test('the body for filters contains [] and "." instead of text that jsonb rejects', async (t) => {
  const bodies: Array<[string, string | null]> = [
    ['{"a":"\\u001b"}', null],
    ['{"a":"\\u0000"}', '{"a":[]}'],
    ['{"a\\ud800":"b","c":["\\udc00", "\\ud83d\\ude00"]}', '{".":"b","c":[[], "\\ud83d\\ude00"]}'],
    ['{"a\\u0000" : 1,"b":"\\\\u0000","c":"\\"\\u0000\\""}', '{"." : 1,"b":"\\u005cu0000","c":[]}'],
    ['{"a":"\\ud83d\\ude00"}', '{"a":"\\ud83d\\ude00"}']
  ]
  for (const [body, expected] of bodies) t.equal(formatFilterBody(body), expected, body)
})

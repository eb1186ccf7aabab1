import t from 'tap'
import { buildWebhookApi, refusal, webhookInput } from '../../fixtures/api/webhook-api.js'

const { call, create } = await buildWebhookApi(t)
const { id } = await create()
const before = await call('GET', `/webhooks/${id}`)

const enumerated = 'must be one of active, inactive'
const refused: Array<[title: string, body: unknown, ...faults: Array<[field: string, message: string]>]> = [
  ['an empty object', {}, ['', 'must NOT have fewer than 1 properties']],
  ['no body', undefined, ['', 'must NOT have fewer than 1 properties']],
  ['null as the body', null, ['', 'must be object']],
  ['an array', [{ name: 'New name' }], ['', 'must be object']],
  ['a name of null', { name: null }, ['name', 'must be string']],
  ['an address of null', { target_url: null }, ['target_url', 'must be string']],
  ['event types of null', { event_types: null }, ['event_types', 'must be array']],
  ['a status of null', { status: null }, ['status', 'must be string'], ['status', enumerated]],
  ['the status disabled', { status: 'disabled' }, ['status', enumerated]],
  ['a blank name', { name: '   ' }, ['name', 'must be 1 to 255 characters']],
  ['a name with a control character', { name: 'a\u0007b' }, ['name', 'must not contain control characters']],
  ['an http address', { target_url: 'http://example.com/' }, ['target_url', 'must be an https URL']],
  ['a private address', { target_url: 'https://192.168.0.1/' }, ['target_url', 'must point to a public host']],
  ['no event types', { event_types: [] }, ['event_types', 'must NOT have fewer than 1 items']],
  ['an event type outside the catalogue', { event_types: ['job.lost'] }, ['event_types[0]', 'must be an event type of the catalogue']],
  ['a secret', { secret: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=' }, ['secret', 'is not known']],
  ['an id', { id: 17, name: 'New name' }, ['id', 'is not known']],
  ['a field that is not known', { name: 'New name', colour: 'red' }, ['colour', 'is not known']],
  ['a good name with a bad address', { name: 'New name', target_url: 'https://localhost/' }, ['target_url', 'must point to a public host']],
  ['a good status with bad event types', { status: 'inactive', event_types: ['x'] }, ['event_types[0]', 'must be an event type of the catalogue']]
]

for (const [title, body, ...faults] of refused) {
  t.test(`a PATCH with ${title} is refused and changes nothing`, async (t) => {
    const answer = await call('PATCH', `/webhooks/${id}`, body)
    t.equal(answer.status, 400)
    t.strictSame(answer.body, refusal(answer, ...faults.map(([field, message]) => ({ field, message }))))
    t.strictSame((await call('GET', `/webhooks/${id}`)).body, before.body)
  })
}

t.test('a bad PATCH of a webhook that does not exist is a 400, for bodies are judged before resources', async (t) => {
  for (const body of [{}, { name: '' }, { target_url: 'http://example.com/' }, { ...webhookInput, event_types: ['x'] }]) {
    t.equal((await call('PATCH', '/webhooks/17', body)).status, 400)
  }
})

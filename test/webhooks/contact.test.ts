import t from 'tap'
import { buildWebhookApi } from '../fixtures/api/webhook-api.js'

interface Shown { data: { id: number, contact?: string | null } }

t.test('a webhook has an email address as its contact, if one was given', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  const { id, ...created } = await create({ contact: 'ops+hooks@example.co.uk' })
  t.match(created, { contact: 'ops+hooks@example.co.uk' })
  t.notOk(Object.hasOwn(await create(), 'contact'), 'create omits it without one')
  t.match((await call<Shown>('GET', `/webhooks/${id}`)).body.data, { contact: 'ops+hooks@example.co.uk' })
  t.match((await call<Shown>('PATCH', `/webhooks/${id}`, { name: 'Renamed' })).body.data, { contact: 'ops+hooks@example.co.uk' })
  t.match((await call<Shown>('PATCH', `/webhooks/${id}`, { contact: null })).body.data, { contact: null })
})

t.test('anything but one plain email address is rejected', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  const { id } = await create()
  const bad = [
    '', ' ', 'ops', 'ops@', '@example.com', 'ops@example', 'ops@@example.com', 'a b@example.com', 'ops@example.com, it@example.com',
    'Ops <ops@example.com>', 'ops@example.com\nBcc: x@example.com', 'ops@-example.com', 'ops@127.0.0.1', `${'x'.repeat(65)}@example.com`, `ops@${'x'.repeat(60)}.${'example.'.repeat(25)}com`, 7, {}
  ]
  for (const contact of bad) {
    t.match(await call('PATCH', `/webhooks/${id}`, { contact }), { status: 400, body: { error: { code: 'bad_request' } } }, JSON.stringify(contact))
  }
})

import t from 'tap'
import { bearer, keys } from '../../fixtures/api/app.js'
import { startDelivering } from '../../fixtures/delivery/delivering.js'
import { all, createToken, portal } from '../../fixtures/portal/sessions.js'

t.test('only sessions with bodies see the body of an event and the responses to it', async (t) => {
  const { app, drain, emit, receiver, webhook } = await startDelivering(t, { portal, delivery: { responseExcerptBytes: 100 } })
  receiver.answer({ status: 500, headers: { 'content-type': 'text/plain' }, body: 'inner text' })
  await emit({ text: 'canary' })
  await drain()
  const url = `/api/v1/public/acme/webhooks/${webhook.id}/deliveries/1`
  const shown = async (key: string) => (await app.inject({ url, headers: bearer(key) })).json().data
  const whole = await shown(keys.full)
  t.match(whole, { body: /canary/, attempts: [{ response_excerpt: 'inner text' }] })
  t.same(await shown(await createToken(app, ['bodies'])), whole)
  const others = all.filter((name) => name !== 'bodies')
  t.strictSame(await shown(await createToken(app, others)), {
    ...whole, body: null, attempts: whole.attempts.map((attempt: object) => ({ ...attempt, response_excerpt: null }))
  })
})

import t from 'tap'
import { buildWebhookApi, refusal, webhookInput } from '../../fixtures/api/webhook-api.js'

const { call, create } = await buildWebhookApi(t)

t.test('a name is stored trimmed', async (t) => {
  const { id, name } = await create({ name: ' \t\n\u00a0CRM  sync\u3000 ' })
  t.equal(name, 'CRM  sync')
  const { body } = await call<{ data: { name: string } }>('GET', `/webhooks/${id}`)
  t.equal(body.data.name, 'CRM  sync')
})

t.test('a name may have 255 characters, however many units of UTF-16 these are', async (t) => {
  for (const name of ['n', 'n'.repeat(255), 'é'.repeat(255), '🦊'.repeat(255), ` ${'n'.repeat(255)} `]) {
    t.equal((await create({ name })).name, name.trim())
  }
})

const length = 'must be 1 to 255 characters'
const control = 'must not contain control characters'
const refused: Array<[title: string, name: unknown, message: string]> = [
  ['an empty name', '', 'must NOT have fewer than 1 characters'],
  ['a blank name', ' \t ', length],
  ['a name of 256 characters', 'n'.repeat(256), length],
  ['a name of 256 characters beyond U+FFFF', '🦊'.repeat(256), length],
  ['a name with a line break', 'CRM\nsync', control],
  ['a name with an escape', 'CRM\u001b[31m', control],
  ['a name with a delete character', 'CRM\u007f', control],
  ['a name with a C1 control character at its end', 'CRM\u0085', control],
  ['a name that is null', null, 'must be string'],
  ['a name that is a number', 17, 'must be string'],
  ['a name that is an array', ['CRM'], 'must be string'],
  ['a name that is missing', undefined, 'is required']
]

for (const [title, name, message] of refused) {
  t.test(`${title} is refused`, async (t) => {
    const answer = await call('POST', '/webhooks', { ...webhookInput, name })
    t.equal(answer.status, 400)
    t.strictSame(answer.body, refusal(answer, { field: 'name', message }))
    t.equal(answer.headers.location, undefined)
  })
}

t.test('a name with a NUL is refused', async (t) => {
  const answer = await call('POST', '/webhooks', { ...webhookInput, name: 'CRM\0' })
  t.equal(answer.status, 400)
  t.strictSame(answer.body, refusal(answer, { field: 'name', message: 'holds a NUL or half of a surrogate pair' }))
})

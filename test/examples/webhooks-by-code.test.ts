import t from 'tap'
import { runExample } from './fixtures/run-example.js'

t.test('webhooks are managed by code, and bad input is refused', async (t) => {
  const example = runExample(t, '15-webhooks-by-code.ts')
  await example.output(/^webhook 1 has a secret of 50 characters$/m)
  await example.output(/^1 delivery waits: application\.created$/m)
  await example.output(/^audit: support:ann updateWebhook webhook$/m)
  await example.output(/^refused by invalid_input, field target_url$/m)
  t.equal(await example.exit(), 0)
})

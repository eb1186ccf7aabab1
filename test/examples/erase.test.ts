import t from 'tap'
import { runExample } from './fixtures/run-example.js'

t.test('an event is emitted and what it was about erased', async (t) => {
  const example = runExample(t, '09-erase.ts')
  await example.output(/^evt_[0-9a-f]{32} goes to 0 webhooks$/m)
  await example.output(/^application\.created \[\]$/m)
  await example.output(/^1 events erased$/m)
  t.equal(await example.exit(), 0)
})

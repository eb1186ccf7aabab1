import t from 'tap'
import { runExample } from './fixtures/run-example.js'

t.test('the receiver gets the span of the attempt, in the trace of the request that emitted', async (t) => {
  const example = runExample(t, '22-traces.ts')
  const [, trace = ''] = await example.output(/^the request has the trace (\w{32})$/m)
  const [, received, attempt = ''] = await example.output(/^received the span 00-(\w{32})-(\w{16})-01$/m)
  t.equal(received, trace)
  await example.output(new RegExp(`name: 'deliver application.created',\\s+id: '${attempt}'`))
  t.equal(await example.exit(), 0)
})

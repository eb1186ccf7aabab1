import t from 'tap'
import { runExample } from './fixtures/run-example.js'

t.test('the tests of a vendor see which events its code emits, and none of those that were rolled back', async (t) => {
  const example = runExample(t, '17-own-tests.ts')
  t.equal(await example.exit(), 0)
  const [, passed, failed] = await example.output(/pass (\d+)\n.*fail (\d+)/s)
  t.same([passed, failed], ['3', '0'])
})

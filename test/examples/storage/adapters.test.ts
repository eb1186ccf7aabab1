import t from 'tap'
import { runExample } from '../fixtures/run-example.js'

// Some cases wait in real time.
t.jobs = 2

t.test('a storage over SQLite passes every case of the kit, and those of lists with text ids too', async (t) => {
  const example = runExample(t, 'sqlite/conformance.ts')
  await example.output(/All \d+ cases passed\.[^]*ok {6}lists[^]*All \d+ cases passed\./)
  t.equal(await example.exit(), 0)
})

t.test('two sources over a service of the vendor\'s, whose people have uuids, pass the cases of lists, and both key lookups theirs', async (t) => {
  const example = runExample(t, 'vendor/conformance.ts')
  await example.output(/ok {6}lists[^]*All \d+ cases passed\.[^]*ok {6}keys[^]*All 9 cases passed\.[^]*ok {6}keys[^]*All 9 cases passed\./)
  t.equal(await example.exit(), 0)
})

import t from 'tap'
import { buildHost } from '../fixtures/fuzz/fuzz-host.js'
import { fuzzBriefly } from '../fixtures/fuzz/fuzz.js'

t.test('generated requests get no 5xx, no undeclared status, and no body that breaks its schema', async (t) => {
  await fuzzBriefly(t, await buildHost(t))
})

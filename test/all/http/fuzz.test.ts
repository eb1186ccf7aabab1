import t from 'tap'
import { buildHost } from '../../fixtures/fuzz/fuzz-host.js'
import { fuzz } from '../../fixtures/fuzz/fuzz.js'

t.test('no request gets a 5xx, a status that its operation does not declare, or a body that its schema does not have', async (t) => {
  await fuzz(t, await buildHost(t), 150)
})

t.test('the same holds for requests over a socket, where answers show their details', async (t) => {
  await fuzz(t, await buildHost(t, { isOverSocket: true, errorDetails: true }), 400)
})

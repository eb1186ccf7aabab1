import t from 'tap'
import { buildHost } from '../../fixtures/fuzz/fuzz-host.js'
import { fuzz } from '../../fixtures/fuzz/fuzz.js'

t.test('no request gets a 5xx, an undeclared status, or a body that does not match its schema', async (t) => {
  await fuzz(t, await buildHost(t), 150)
})

t.test('nor do requests over a socket with errorDetails', async (t) => {
  await fuzz(t, await buildHost(t, { isOverSocket: true, errorDetails: true }), 400)
})

import t from 'tap'
import { memoryStorage } from '../../src/memory/index.js'
import { buildApp, keys, tenants } from '../fixtures/api/app.js'
import { checkError } from '../fixtures/api/answers.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'
import { followSync, requestSync } from '../fixtures/sync/sync-client.js'

const restMs = 61 * 60_000 + 1

t.test('a token of a removed or renamed tenant gets 410, also after the name was taken again', async (t) => {
  const clock = createManualClock()
  const storage = memoryStorage({ tenants, clock })
  const app = await buildApp(t, { storage, delivery: { clock, worker: false } })
  const { token } = await followSync(app)
  await app.recruiting.removeTenant('acme')
  storage.candidates.save('acme', { id: 9, full_name: 'Another customer' })
  checkError(t, await requestSync(app, { token }), 401, 'while the name rests')
  await clock.skip(restMs)
  checkError(t, await requestSync(app, { token }), 410)

  const next = await followSync(app)
  const theirs = await followSync(app, { tenantSlug: 'globex', key: keys.globex })
  await app.recruiting.renameTenant('acme', 'globex')
  checkError(t, await requestSync(app, { tenantSlug: 'globex', key: keys.globex, token: theirs.token }), 410, 'the new name')
  await clock.skip(restMs)
  checkError(t, await requestSync(app, { token: next.token }), 410, 'the old name')
  t.equal((await followSync(app)).pages.length, 1)
})

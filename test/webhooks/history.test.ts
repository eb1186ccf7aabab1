import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { memoryStorage } from '../../src/memory/index.js'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'
import { storeWebhook } from '../fixtures/api/webhooks.js'

t.test('two calls per process can read history at a time, others get 503, and lists still work', async (t) => {
  const storage = memoryStorage()
  let running = 0
  let release = (): void => {}
  const released = new Promise<void>((resolve) => { release = resolve })
  storage.deliveries.countReplay = async () => {
    running++
    await released
    return { queued: 0, truncated: true }
  }
  const app = await buildApp(t, { storage })
  const headers = bearer(keys.full)
  const url = `/api/v1/public/acme/webhooks/${(await storeWebhook(storage, 'acme')).id}`
  const replay = (payload: object) => app.inject({ method: 'POST', url: `${url}/replay`, headers, payload })
  const dryRun = () => replay({ dry_run: true })

  const first = [dryRun(), dryRun()]
  while (running < 2) await new Promise((resolve) => setImmediate(resolve))
  for (const answer of await Promise.all([dryRun(), app.inject({ url: `${url}/deliveries`, headers }), replay({})])) {
    t.match([answer.statusCode, answer.headers['retry-after'], answer.json().error.code], [503, '5', 'unavailable'])
  }
  const subject = { tenantSlug: 'acme', subject: 'candidate:1' }
  await t.rejects(app.recruiting.erase(subject), { code: 'busy', statusCode: 503 })
  await t.rejects(app.recruiting.findSubject('acme', 'candidate:1').next(), { code: 'busy' })
  t.equal((await app.inject({ url, headers })).statusCode, 200)
  t.equal(running, 2)
  const other = createRecruiting({ storage: memoryStorage(), delivery: false })
  t.teardown(() => other.close())
  await t.rejects(other.erase(subject), { code: 'busy' }, 'another engine of the process')

  const waiting = dryRun()
  release()
  for (const answer of await Promise.all([...first, waiting])) {
    t.match([answer.statusCode, answer.json().data.truncated], [200, true])
  }
  t.equal((await app.inject({ url: `${url}/deliveries`, headers })).statusCode, 200)
  t.equal(await other.erase(subject), 0)
})

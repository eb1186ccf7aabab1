import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { memoryStorage } from '../../src/memory/index.js'
import { buildApp, keys } from '../fixtures/api/app.js'

t.test(
  'two calls of a process read the history of tenants at a time; the next one gets 503, and the list of webhooks still answers',
  async (t) => {
    const storage = memoryStorage()
    let running = 0
    let release = (): void => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const slow = {
      ...storage.deliveries,
      async countReplay () {
        running++
        await released
        return { queued: 0, truncated: true }
      }
    }
    const app = await buildApp(t, { storage: { ...storage, deliveries: slow } })
    const headers = { authorization: `Bearer ${keys.full}` }
    const created = await app.inject({
      method: 'POST',
      url: '/api/v1/public/acme/webhooks',
      headers,
      payload: { name: 'CRM', target_url: 'https://hooks.example.com/', event_types: ['job.created'] }
    })
    const url = `/api/v1/public/acme/webhooks/${created.json().data.id}`
    const dryRun = () => app.inject({ method: 'POST', url: `${url}/replay`, headers, payload: { dry_run: true } })

    const first = [dryRun(), dryRun()]
    while (running < 2) await new Promise((resolve) => setImmediate(resolve))
    const others = await Promise.all([
      dryRun(),
      app.inject({ url: `${url}/deliveries`, headers }),
      app.inject({ method: 'POST', url: `${url}/replay`, headers, payload: {} })
    ])
    for (const { statusCode, headers: sent, ...response } of others) {
      t.equal(statusCode, 503)
      t.equal(sent['retry-after'], '5')
      t.equal(response.json().error.code, 'unavailable')
    }
    await t.rejects(app.recruiting.erase({ tenantSlug: 'acme', subject: 'candidate:1' }), {
      code: 'busy',
      statusCode: 503
    })
    await t.rejects(app.recruiting.findSubject('acme', 'candidate:1').next(), { code: 'busy' })
    t.equal((await app.inject({ url, headers })).statusCode, 200)
    t.equal(running, 2)

    const other = createRecruiting({ storage: memoryStorage(), delivery: false })
    t.teardown(() => other.close())
    const subject = { tenantSlug: 'acme', subject: 'candidate:1' }
    await t.rejects(other.erase(subject), { code: 'busy' }, 'another engine of the process')

    const waiting = dryRun()
    release()
    for (const { statusCode, ...response } of await Promise.all([...first, waiting])) {
      t.equal(statusCode, 200)
      t.equal(response.json().data.truncated, true)
    }
    t.equal((await app.inject({ url: `${url}/deliveries`, headers })).statusCode, 200)
    t.equal((await other.erase(subject)).events, 0)
  }
)

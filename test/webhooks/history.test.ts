import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { createHistoryPlaces } from '../../src/core/webhooks/history.js'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'
import { storeWebhook } from '../fixtures/api/webhooks.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

t.test('calls that read history take turns by tenant, and neither logs nor calls by code wait for them', async (t) => {
  const storage = memoryStorage()
  const running: string[] = []
  let release = (): void => {}
  const released = new Promise<void>((resolve) => { release = resolve })
  storage.deliveries.countReplay = async (tenant) => {
    running.push(tenant)
    await released
    return { queued: 0, truncated: true }
  }
  const app = await buildApp(t, { storage })
  const ids = { acme: (await storeWebhook(storage, 'acme')).id, globex: (await storeWebhook(storage, 'globex')).id }
  const dryRun = (tenant: keyof typeof ids) => app.inject({
    method: 'POST',
    url: `/api/v1/public/${tenant}/webhooks/${ids[tenant]}/replay`,
    headers: bearer(tenant === 'acme' ? keys.full : keys.globex),
    payload: { dry_run: true }
  })

  const calls = Array.from({ length: 22 }, () => dryRun('acme'))
  while (running.length < 2) await nextTurn()
  const answer = await dryRun('acme')
  t.match([answer.statusCode, answer.headers['retry-after'], answer.json().error.code], [503, '5', 'unavailable'])
  calls.push(dryRun('globex'))
  while (running.length < 3) await nextTurn()
  t.strictSame(running, ['acme', 'acme', 'globex'])

  const log = await app.inject({ url: `/api/v1/public/acme/webhooks/${ids.acme}/deliveries`, headers: bearer(keys.full) })
  t.equal(log.statusCode, 200, 'a capped total needs no place')
  const subject = { tenantSlug: 'acme', subject: 'candidate:1' }
  t.equal(await app.recruiting.erase(subject), 0)
  t.match(await app.recruiting.findSubject('acme', 'candidate:1').next(), { done: true })
  const queued = await app.recruiting.webhooks.replay({ tenantSlug: 'acme' }, ids.acme, {})
  t.match(queued, { queued: 0 })

  release()
  for (const { statusCode } of await Promise.all(calls)) t.equal(statusCode, 200)
})

t.test('calls by code that read history take turns by tenant in all engines of a process', async (t) => {
  const storage = memoryStorage()
  const erased: string[] = []
  let release = (): void => {}
  const released = new Promise<void>((resolve) => { release = resolve })
  const { erase } = storage.deliveries
  storage.deliveries.erase = async (tenant, ...values) => {
    erased.push(tenant)
    if (tenant === 'acme') await released
    return erase(tenant, ...values)
  }
  const one = createRecruiting({ storage, delivery: false })
  const other = createRecruiting({ storage, delivery: false })
  t.teardown(() => Promise.all([one.close(), other.close()]))
  const ofAcme = { tenantSlug: 'acme', subject: 'candidate:1' }
  const calls = Array.from({ length: 22 }, () => one.erase(ofAcme))
  await nextTurn()
  await t.rejects(other.erase(ofAcme), { code: 'busy', statusCode: 503 })
  t.equal(await other.erase({ ...ofAcme, tenantSlug: 'globex' }), 0)
  t.strictSame(erased, ['acme', 'acme', 'globex'])
  release()
  t.strictSame(new Set(await Promise.all(calls)), new Set([0]))
})

t.test('a call that reads history waits a second for its turn', async (t) => {
  const clock = createManualClock()
  const { requests: { run } } = createHistoryPlaces(clock)
  const held = new Promise<never>(() => {})
  run('acme', () => held)
  run('acme', () => held)
  const waiting = run('acme', async () => {})
  waiting.catch(() => {})
  await clock.advance(1000)
  await t.rejects(waiting, { code: 'busy', message: "too many calls read the tenant's history: try again in 5 seconds" })
})

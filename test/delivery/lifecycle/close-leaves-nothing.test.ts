import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { channel } from 'node:diagnostics_channel'
import { createRecruiting } from '../../../src/index.js'
import { memoryStorage } from '../../../src/memory/index.js'
import { countDueListeners } from '../../fixtures/postgres/due-listeners.js'
import { hang, startReceiver } from '../../fixtures/receivers/receiver.js'
import { readUntil, resources } from '../../fixtures/resources.js'
import { startStopwatch } from '../../fixtures/stopwatch.js'
import { toLoopback } from '../../fixtures/api/webhook-api.js'
import { storeWebhook } from '../../fixtures/api/webhooks.js'

const hanging = 50
const closeGraceMs = 500
const undiciChannels = ['undici:request:create', 'undici:client:sendHeaders', 'undici:request:error', 'undici:request:headers']

interface Leftovers {
  resources: string[]
  listeners: Array<[name: string | symbol, count: number]>
  subscribed: string[]
}

function leftovers (): Leftovers {
  return {
    resources: resources(),
    listeners: process.eventNames().map((name) => [name, process.listenerCount(name)]),
    subscribed: undiciChannels.filter((name) => channel(name).hasSubscribers)
  }
}

t.test('close with 50 hanging attempts ends within the grace and a second, gives the leases back and leaves nothing', async (t) => {
  const receiver = await startReceiver(t)
  receiver.answer(hang)
  const storage = memoryStorage()
  const listeners = countDueListeners(storage.deliveries)
  for (let count = 0; count < hanging; count++) {
    await storeWebhook(storage, 'acme', { targetUrl: receiver.url, eventTypes: ['job.created'] })
  }
  await sleep(100)
  const before = leftovers()

  const recruiting = createRecruiting({ storage, delivery: { ...toLoopback, closeGraceMs } })
  await recruiting.emit({ tenantSlug: 'acme', type: 'job.created', data: {} })
  await receiver.received(hanging)
  t.match(await storage.deliveries.stats(), { pending: hanging, leased: hanging })
  t.ok(leftovers().resources.length >= before.resources.length + hanging, 'there was something to leave')
  t.equal(listeners.count, 1)

  const startedAt = performance.now()
  const stop = startStopwatch()
  await recruiting.close()
  const closeMs = performance.now() - startedAt
  t.ok(closeMs >= closeGraceMs - 5 && stop() < closeGraceMs + 1000, `closed after ${closeMs} ms`)
  t.match(await storage.deliveries.stats(), { pending: hanging, due: hanging, leased: 0 })
  t.equal(listeners.count, 0)
  t.strictSame(await readUntil(leftovers, before), before)
  t.equal(receiver.requests.length, hanging, 'each was attempted once')
})

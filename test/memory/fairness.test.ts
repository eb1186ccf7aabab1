import t from 'tap'
import type { ClaimedDelivery } from '../../src/ports/index.js'
import { createDeliveryKit, delivered, eventIds, retry } from './fixtures/delivery-kit.js'
import type { DeliveryKit } from './fixtures/delivery-kit.js'

async function emitMany (kit: DeliveryKit, tenantSlug: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await kit.emit({ tenantSlug })
}

function webhookIds (claimed: readonly ClaimedDelivery[]): number[] {
  return claimed.map(({ webhookId }) => webhookId)
}

async function createBusyKit (): Promise<DeliveryKit> {
  const kit = createDeliveryKit()
  for (const tenantSlug of ['flooding', 'busy', 'quiet']) await kit.addWebhook({ tenantSlug })
  await emitMany(kit, 'flooding', 100)
  await emitMany(kit, 'busy', 3)
  await emitMany(kit, 'quiet', 1)
  return kit
}

t.test('endpoints take turns within a claim', async (t) => {
  const { claim } = await createBusyKit()

  t.strictSame(webhookIds(await claim({ limit: 8 })), [1, 2, 3, 1, 2, 1, 2, 1])
})

t.test('a claim goes on where the last one stopped', async (t) => {
  const { claim } = await createBusyKit()
  const turns: number[] = []
  for (let i = 0; i < 8; i++) turns.push(...webhookIds(await claim({ limit: 1 })))

  t.strictSame(turns, [1, 2, 3, 1, 2, 1, 2, 1])
})

t.test('a webhook that starts to flood does not delay another', async (t) => {
  const kit = await createBusyKit()
  await kit.claim({ limit: 50 })
  await kit.emit({ tenantSlug: 'quiet' })

  t.ok(webhookIds(await kit.claim({ limit: 2 })).includes(3))
})

t.test('a webhook has no more leases at once than perEndpoint, over all claims', async (t) => {
  const { claim, complete, clock } = await createBusyKit()
  const first = await claim({ perEndpoint: 2 })
  t.strictSame(webhookIds(first), [1, 2, 3, 1, 2])
  t.strictSame(webhookIds(await claim({ perEndpoint: 2 })), [])

  await complete(...first.slice(0, 2).map(delivered))
  t.strictSame(webhookIds(await claim({ perEndpoint: 2 })), [1, 2])
  t.strictSame(webhookIds(await claim({ perEndpoint: 3 })), [1])

  await clock.advance(60_000)
  t.strictSame(webhookIds(await claim({ perEndpoint: 1, leaseMs: 1 })).toSorted(), [1, 2, 3])
})

t.test('a webhook that cannot be attempted now costs the others nothing', async (t) => {
  const kit = await createBusyKit()
  const [flooding] = await kit.claim({ limit: 1 })
  if (flooding === undefined) throw new Error('nothing is due')
  await kit.complete(retry(flooding, { holdMs: 1000 }))

  t.strictSame(webhookIds(await kit.claim()), [2, 3, 2, 2])
  await kit.clock.advance(1000)
  t.strictSame(eventIds(await kit.claim({ limit: 2 })), ['evt_2', 'evt_3'])
})

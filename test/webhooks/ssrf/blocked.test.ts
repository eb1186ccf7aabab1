import { type AddressInfo, createServer } from 'node:net'
import { once } from 'node:events'
import t from 'tap'
import { createRecruiting, type DeliveryOptions, type RecruitingStorage } from '../../../src/index.js'
import { memoryStorage } from '../../../src/storages/memory/index.js'
import { createManualClock } from '../../fixtures/delivery/manual-clock.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { buildWebhookApi, toLoopback } from '../../fixtures/api/webhook-api.js'
import { type DnsServer, startDnsServer } from '../../fixtures/receivers/dns-server.js'
import { countConnects } from '../../fixtures/hostile/hostile-connections.js'

interface Log {
  data: Array<{
    status: string
    attempt_count: number
    response_status: number | null
    error: string | null
    next_attempt_at: string | null
  }>
}

/** The rules of the delivering engine; the webhook was created under wider rules. */
const stricter: Array<[title: string, host: string, delivery: DeliveryOptions]> = [
  ['an address', '127.0.0.1', { allowHttp: true, allowNetworks: ['203.0.113.1/32'] }],
  ['the address of a name', 'localhost', { allowHttp: true, allowNetworks: ['203.0.113.1/32'] }],
  ['an http address', '127.0.0.1', { allowNetworks: ['127.0.0.1/32'] }]
]

for (const [title, host, strict] of stricter) {
  t.test(`${title} that is no longer allowed fails its delivery immediately, and a replay works once it is allowed`, async (t) => {
    const receiver = await startReceiver(t)
    const clock = createManualClock(Date.now())
    const storage = memoryStorage({ clock })
    const { app, call, create } = await buildWebhookApi(t, { clock, storage, delivery: toLoopback })
    const { id } = await create({ target_url: `http://${host}:${receiver.port}/` })
    const event = await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
    const deliver = async (delivery: DeliveryOptions): Promise<void> => {
      const engine = createRecruiting({ storage, delivery: { ...delivery, clock } })
      await engine.drain()
      await engine.close()
    }
    await deliver(strict)
    t.equal(receiver.requests.length, 0)
    const { body } = await call<Log>('GET', `/webhooks/${id}/deliveries`)
    t.match(body.data, [{ status: 'failed', attempt_count: 1, response_status: null, error: 'blocked', next_attempt_at: null }])
    t.match((await call('GET', `/webhooks/${id}`)).body, { data: { status: 'active' } })

    t.match((await call('POST', `/webhooks/${id}/replay`)).body, { data: { queued: 1 } })
    await deliver({ allowHttp: true, allowNetworks: ['127.0.0.1/32', '::1/128'] })
    t.same(receiver.requests.map(({ headers }) => headers['webhook-id']), [event.id])
  })
}

interface Tested {
  data: { id: string, duration_ms: number }
}

t.test('a test returns the same for every blocked target: open, closed, silent or missing', async (t) => {
  const dns = await startDnsServer(t)
  const storage = memoryStorage()
  const { call } = await dns.serve(() => buildWebhookApi(t, { storage, delivery: { allowHttp: true } }))
  const targets = await blockedTargets(t, dns)
  const connects = countConnects(t)

  const answers = new Set<string>()
  for (const target of targets) {
    const id = await storeWebhook(storage, target)
    const { status, body, headers } = await call<Tested>('POST', `/webhooks/${id}/dispatch_test`)
    const { id: eventId, duration_ms: durationMs, ...data } = body.data
    t.match(eventId, /^evt_[0-9a-f]{32}$/)
    t.ok(Number.isInteger(durationMs) && durationMs < 1000, `${target} took ${durationMs} ms`)
    const { 'x-request-id': requestId, date, 'content-length': length, ...others } = headers
    answers.add(JSON.stringify({ status, data, headers: others }))
  }
  t.equal(answers.size, 1)
  t.match([...answers][0], '"data":{"event_type":"job.created","status":"failed","response_status":null,"error":"blocked","detail":null}')
  t.equal(connects.count, 0)
})

/** Internal hosts of every kind, by address and by name, on open, closed and silent ports. */
async function blockedTargets (t: Parameters<typeof startReceiver>[0], dns: DnsServer): Promise<string[]> {
  const open = await startReceiver(t)
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.teardown(() => new Promise((resolve) => { silent.close(resolve) }))
  const ports = [open.port, (silent.address() as AddressInfo).port, 1, 22, 80, 6379]
  const addresses = ['127.0.0.1', '10.0.0.1', '169.254.169.254', '192.168.1.1', '203.0.113.7', '255.255.255.255', '224.0.0.1']
  for (const address of addresses) dns.set(`to-${address.replaceAll('.', '-')}.example`, { a: [address] })
  dns.set('to-v6.example', { aaaa: ['fd00:ec2::254'] })
  dns.set('to-both.example', { a: ['8.8.8.8', '127.0.0.1'], aaaa: ['2606:4700:4700::1111'] })
  const names = addresses.map((address) => `to-${address.replaceAll('.', '-')}.example`)
  const hosts = [...addresses, ...names, '[::1]', '[fe80::1]', 'to-v6.example', 'to-both.example', 'localhost', 'intranet', 'db.internal']
  return hosts.flatMap((host) => ports.flatMap((port) => [`http://${host}:${port}/`, `https://${host}:${port}/secret?x=1`]))
}

/** Bypasses the rules for clients. */
async function storeWebhook ({ webhooks }: RecruitingStorage, target: string): Promise<number> {
  const id = await webhooks.nextId('acme')
  const webhook = { tenantSlug: 'acme', name: 'Stored', status: 'active', event_types: ['job.created'], secret: 'whsec_AAAA' } as const
  await webhooks.create('acme', { ...webhook, id, target_url: target }, { maxPerTenant: 1000 })
  return id
}

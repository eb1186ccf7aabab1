import type { ServerResponse } from 'node:http'
import { Webhook } from 'standardwebhooks'
import type { Test } from 'tap'
import { webhookInput } from '../../fixtures/api/webhook-api.js'
import { type ReceivedRequest, startReceiver } from '../../fixtures/receivers/receiver.js'
import { testHandOvers } from '../../fixtures/tenants/hand-over.js'
import type { CreateTenantStore, VendorServer } from '../../fixtures/tenants/vendor.js'

const event = { tenantSlug: 'acme', type: 'application.created', data: { id: 1 } } as const
interface Created { id: number, secret: string }

function create ({ read }: VendorServer, key: string, targetUrl: string): Promise<Created> {
  return read('/acme/webhooks', key, { method: 'POST', payload: { ...webhookInput, target_url: targetUrl } })
}

/** Checks the signature with the clock of the request, because the time of these tests jumps. */
function isSignedBy ({ secret }: Created, { headers, body }: ReceivedRequest): boolean {
  const id = String(headers['webhook-id'])
  const time = new Date(Number(headers['webhook-timestamp']) * 1000)
  return headers['webhook-signature'] === new Webhook(secret).sign(id, time, body)
}

/** What a process has begun: a claimed delivery, a retry that it has scheduled, a test. */
export function testAttempts (t: Test, createStore: CreateTenantStore): void {
  testHandOvers(t, createStore, 'an attempt in flight and its retries are not those of the next tenant with the slug', async (t, story) => {
    const { server, handOver, pass } = story
    const [oldReceiver, newReceiver] = [await startReceiver(t), await startReceiver(t)]
    const old = await create(server, 'old-key', oldReceiver.url)
    let held: ServerResponse | undefined
    oldReceiver.answer((response) => { held = response }, 204)
    await server.app.recruiting.emit(event)
    await oldReceiver.received(1)
    await handOver()
    const next = await create(server, 'new-key', newReceiver.url)
    held?.writeHead(500).end()
    t.same(await server.read(`/acme/webhooks/${next.id}/deliveries`, 'new-key'), [], 'the log of the next tenant')
    await server.app.recruiting.emit({ ...event, data: { id: 2 } })
    const [received] = await newReceiver.received(1)
    await pass(10_000)
    t.match(JSON.parse(received?.body ?? ''), { data: { id: 2 } })
    t.ok(received !== undefined && isSignedBy(next, received))
    t.ok(oldReceiver.requests.every((request) => isSignedBy(old, request) && /"data":\{"id":1\}/.test(request.body)))
    t.same(newReceiver.requests.length, 1)
  }, { worker: true })

  testHandOvers(t, createStore, 'a test under way is signed for the tenant that sent it', async (t, { server, handOver }) => {
    const receiver = await startReceiver(t)
    const old = await create(server, 'old-key', receiver.url)
    let held: ServerResponse | undefined
    receiver.answer((response) => { held = response }, 204)
    const testing = server.ask(`/acme/webhooks/${old.id}/dispatch_test`, 'old-key', { method: 'POST' })
    const [received] = await receiver.received(1)
    await handOver()
    held?.writeHead(204).end()
    t.equal((await testing).statusCode, 200)
    t.ok(received !== undefined && isSignedBy(old, received))
    t.same(await server.read('/acme/webhooks', 'new-key'), [])
  })
}

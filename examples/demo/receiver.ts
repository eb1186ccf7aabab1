import Fastify, { type FastifyRequest } from 'fastify'
import { Webhook } from 'standardwebhooks'
import type { Print } from './console.js'

/** The body of every delivery. */
interface WebhookEvent {
  id: string
  type: string
  timestamp: string
  tenant_slug: string
  data: Record<string, unknown>
  /** Sent by `dispatch_test`. */
  test?: true
}

/** What the tenants run at their end: it takes deliveries at `/<tenant_slug>`. */
export interface Receiver {
  url: string
  /** From now on the deliveries of this tenant are verified with this secret. */
  trust (tenantSlug: string, secret: string): void
  close (): Promise<void>
}

export interface ReceiverOptions {
  port: number
  /** Of so many new events one is answered with a 500 after it was taken in, to show a retry; 0 for none. */
  stumbleEvery: number
  print: Print
}

export async function startReceiver ({ port, stumbleEvery, print }: ReceiverOptions): Promise<Receiver> {
  const app = Fastify()
  const verifiers = new Map<string, Webhook>()
  // A real receiver keeps these with what it makes of the events, and drops them after a month.
  const seenIds = new Set<string>()

  // The signature covers the bytes as they came: parsed and written again they would differ.
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  app.post<{ Params: { tenant: string } }>('/:tenant', async (request, reply) => {
    const { tenant } = request.params
    try {
      const event = verify(request, verifiers.get(tenant))
      return reply.code(take(event)).send()
    } catch (error) {
      print('receiver', tenant, `NOT verified, refused: ${error instanceof Error ? error.message : String(error)}`)
      return reply.code(401).send()
    }
  })

  /** Takes an event in, once, and returns the status to answer with. */
  function take ({ id, type, timestamp, tenant_slug: tenant, test }: WebhookEvent): number {
    const name = test === true ? `${type} (test)` : type
    const after = formatDuration(Date.now() - Date.parse(timestamp))
    const line = `${name.padEnd(26)} verified, ${after} after it happened`
    if (seenIds.has(id)) {
      print('receiver', tenant, `${line}: ${id} came before, nothing to do`)
      return 204
    }
    seenIds.add(id)
    if (stumbleEvery > 0 && seenIds.size % stumbleEvery === 0) {
      print('receiver', tenant, `${line}, but answered with 500 on purpose: ${id}`)
      return 500
    }
    print('receiver', tenant, line)
    return 204
  }

  const url = await app.listen({ host: '127.0.0.1', port })
  return {
    url,
    trust (tenantSlug, secret) { verifiers.set(tenantSlug, new Webhook(secret)) },
    close: () => app.close()
  }
}

/** Throws unless the sender knows the secret and the delivery is fresh. */
function verify ({ body, headers }: FastifyRequest, verifier: Webhook | undefined): WebhookEvent {
  if (verifier === undefined) throw new Error('there is no webhook for this path')
  if (!Buffer.isBuffer(body)) throw new Error('there is no body')
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
  const signature = Object.fromEntries(names.map((name) => [name, String(headers[name] ?? '')]))
  return verifier.verify(body, signature) as WebhookEvent
}

function formatDuration (ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`
}

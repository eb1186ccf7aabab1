import Fastify, { type FastifyRequest } from 'fastify'
import { Webhook } from 'standardwebhooks'
import type { Print } from '../console.js'
import type { Arrival, Feed } from '../page-api/feed.js'

/** The body of every delivery. */
interface WebhookEvent {
  id: string
  type: string
  timestamp: string
  data: Record<string, unknown>
  /** Sent by `dispatch_test`. */
  test?: true
}

/** What the tenants run at their end: it takes deliveries at `/<tenant_slug>`, and at paths below. */
export interface Receiver {
  url: string
  /** From now on what comes to this path, such as `acme` or `acme/crm`, is verified with this secret. */
  trust (path: string, secret: string): void
  /** Answers everything with a 500 for so many seconds. */
  fail (seconds: number): void
  close (): Promise<void>
}

export interface ReceiverOptions {
  port: number
  /** Of so many new events one is answered with a 500 after it was taken in, to show a retry; 0 for none. */
  stumbleEvery: number
  print: Print
  feed: Feed
}

export async function startReceiver ({ port, stumbleEvery, print, feed }: ReceiverOptions): Promise<Receiver> {
  const app = Fastify()
  const verifiers = new Map<string, Webhook>()
  // A real receiver keeps these with what it makes of the events, and drops them after a month.
  const seenIds = new Set<string>()
  let count = 0
  let failingUntilMs = 0

  // The signature covers the bytes as they came: parsed and written again they would differ.
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  app.post<{ Params: { '*': string } }>('/*', async (request, reply) => {
    const { '*': path } = request.params
    const arrival = describe(request)
    try {
      const { event, isKnown, status } = take(verify(request, verifiers.get(path)), path)
      feed.publish({ ...arrival, isVerified: true, isTest: event.test === true, isKnown, status })
      return reply.code(status).send()
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      print('receiver', path, `NOT verified, refused: ${reason}`)
      feed.publish({ ...arrival, reason, status: 401 })
      return reply.code(401).send()
    }
  })

  /** Takes an event in, once, and says what to answer with. */
  function take (event: WebhookEvent, path: string): { event: WebhookEvent, isKnown: boolean, status: number } {
    const { id, type, timestamp, test } = event
    const name = test === true ? `${type} (test)` : type
    const after = formatDuration(Date.now() - Date.parse(timestamp))
    const line = `${name.padEnd(26)} verified, ${after} after it happened`
    if (Date.now() < failingUntilMs) {
      print('receiver', path, `${line}, but answered with 500: it is broken for now`)
      return { event, isKnown: false, status: 500 }
    }
    const key = `${path} ${id}`
    if (seenIds.has(key)) {
      print('receiver', path, `${line}: ${id} came before, nothing to do`)
      return { event, isKnown: true, status: 204 }
    }
    seenIds.add(key)
    count += 1
    if (stumbleEvery > 0 && count % stumbleEvery === 0) {
      print('receiver', path, `${line}, but answered with 500 on purpose: ${id}`)
      return { event, isKnown: false, status: 500 }
    }
    print('receiver', path, line)
    return { event, isKnown: false, status: 204 }
  }

  const url = await app.listen({ host: '127.0.0.1', port })
  return {
    url,
    trust (path, secret) { verifiers.set(path, new Webhook(secret)) },
    fail (seconds) {
      failingUntilMs = Date.now() + seconds * 1000
      feed.publish({ kind: 'outage', untilMs: failingUntilMs })
    },
    close: () => app.close()
  }
}

/** What can be told of a delivery before it is believed. */
function describe ({ params, headers, body }: FastifyRequest): Arrival {
  const text = Buffer.isBuffer(body) ? body.toString() : ''
  return {
    kind: 'arrival',
    path: (params as { '*': string })['*'],
    eventId: String(headers['webhook-id'] ?? ''),
    eventType: /"type":"([\w.]{1,100})"/.exec(text)?.[1] ?? 'unknown',
    isTest: false,
    isVerified: false,
    reason: '',
    signatures: String(headers['webhook-signature'] ?? '').split(' ').filter((part) => part !== '').length,
    isKnown: false,
    status: 0,
    body: text.slice(0, 4096)
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

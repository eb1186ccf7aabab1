import Fastify from 'fastify'
import { Webhook } from 'standardwebhooks'
import type { Print } from '../console.js'
import { type Arrival, type WebhookEvent, readArrival, tenantOf, verify } from './request.js'

/** The response of a receiver: 204, 500, or 410, which disables the webhook. */
export type Mode = 'working' | 'broken' | 'gone'

export const modes: readonly Mode[] = ['working', 'broken', 'gone']

/** A webhook that points to the receiver. */
export interface Endpoint {
  path: string
  webhookId: number
  secret: string
}

/** One server for the receivers of all tenants. A tenant's deliveries arrive at `/<tenant_slug>` and below. */
export interface Receiver {
  url: string
  /** Verifies requests to the path with this secret from now on. */
  trust (endpoint: Endpoint): void
  /** Changes the responses of one tenant's receiver from now on. */
  setMode (tenantSlug: string, mode: Mode): void
  /** The mode of every tenant whose mode was set. */
  readModes (): Record<string, Mode>
  close (): Promise<void>
}

export interface ReceiverOptions {
  port: number
  /** Answers one of this many new events with 500 after handling it, to show a retry; 0 for none. */
  stumbleEvery: number
  print: Print
  onArrival: (arrival: Arrival) => void
}

/** The result of handling a verified event: `error` is the body of the response, `remark` is printed. */
type Handling = Pick<Arrival, 'status' | 'isDuplicate'> & { error?: string, remark: string }

export async function startReceiver ({ port, stumbleEvery, print, onArrival }: ReceiverOptions): Promise<Receiver> {
  const app = Fastify()
  const endpoints = new Map<string, { webhookId: number, verifier: Webhook }>()
  const modeByTenant = new Map<string, Mode>()
  // A real receiver stores the ids with its own data, and deletes them after a month.
  const seenIds = new Set<string>()
  let count = 0

  // Keeps the raw bytes: the signature covers exactly these.
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  app.post<{ Params: { '*': string } }>('/*', async (request, reply) => {
    const { '*': path } = request.params
    const endpoint = endpoints.get(path)
    const arrival = { ...readArrival(request), webhookId: endpoint?.webhookId ?? null }
    try {
      const event = verify(request, endpoint?.verifier)
      const { remark, error, ...handling } = handle(event, path)
      print('receiver', path, `${describe(event)}${remark}`)
      onArrival({ ...arrival, ...handling, isVerified: true, isTest: event.test === true })
      return reply.code(handling.status).send(error === undefined ? undefined : { error })
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      print('receiver', path, `NOT verified, refused: ${reason}`)
      onArrival({ ...arrival, reason, status: 401 })
      return reply.code(401).send({ error: reason })
    }
  })

  function handle ({ id }: WebhookEvent, path: string): Handling {
    const mode = modeByTenant.get(tenantOf(path))
    if (mode === 'broken') return fail(500, 'the receiver is broken')
    if (mode === 'gone') return fail(410, 'the receiver is gone')
    const key = `${path} ${id}`
    if (seenIds.has(key)) return { status: 204, isDuplicate: true, remark: `, duplicate, ignored: ${id}` }
    seenIds.add(key)
    count += 1
    if (stumbleEvery === 0 || count % stumbleEvery !== 0) return { status: 204, isDuplicate: false, remark: '' }
    return { ...fail(500, 'on purpose, to show a retry'), remark: `, answered 500 on purpose: ${id}` }
  }

  const url = await app.listen({ host: '127.0.0.1', port })
  return {
    url,
    trust ({ path, webhookId, secret }) { endpoints.set(path, { webhookId, verifier: new Webhook(secret) }) },
    setMode (tenantSlug, mode) { modeByTenant.set(tenantSlug, mode) },
    readModes: () => Object.fromEntries(modeByTenant),
    close: () => app.close()
  }
}

function fail (status: number, error: string): Handling {
  return { status, isDuplicate: false, error, remark: `, answered ${status}: ${error}` }
}

function describe ({ type, timestamp, test }: WebhookEvent): string {
  const name = test === true ? `${type} (test)` : type
  return `${name.padEnd(26)} verified, ${formatDuration(Date.now() - Date.parse(timestamp))} after the event`
}

function formatDuration (ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`
}

import Fastify from 'fastify'
import type { Print } from '../console.js'
import { type Arrival, type WebhookEvent, readArrival, tenantOf, verify } from './request.js'
import { VerificationError } from './verify.js'

/** The receiver's response: 204, 500, or 410, which disables the webhook. */
export type Mode = 'working' | 'broken' | 'gone'

export const modes: readonly Mode[] = ['working', 'broken', 'gone']

/** One server for all tenants' receivers. A tenant's deliveries arrive at `/<tenant_slug>` and below. */
export interface Receiver {
  url: string
  /** Also accepts the tenant's requests signed with this secret. */
  trust (tenantSlug: string, secret: string): void
  /** Changes the responses of one tenant's receiver. */
  setMode (tenantSlug: string, mode: Mode): void
  /** Returns the modes by tenant, without defaults. */
  readModes (): Record<string, Mode>
  close (): Promise<void>
}

export interface ReceiverOptions {
  port: number
  tenantSlugs: readonly string[]
  /** Returns 500 for one of this many new events after handling it, to show a retry; 0 for none. */
  stumbleEvery: number
  print: Print
  onArrival: (arrival: Arrival) => void
}

/** The result of handling a verified event: `error` is in the response's body, `remark` is printed. */
type Handling = Pick<Arrival, 'status' | 'isDuplicate'> & { error?: string, remark: string }

export async function startReceiver ({
  port,
  tenantSlugs,
  stumbleEvery,
  print,
  onArrival
}: ReceiverOptions): Promise<Receiver> {
  const app = Fastify()
  const secretsByTenant = new Map<string, string[]>(tenantSlugs.map((slug) => [slug, []]))
  const addresses = tenantSlugs.map((slug) => `/${slug}`).join(' and ')
  const modeByTenant = new Map<string, Mode>()
  // A real receiver stores the ids with its own data and deletes them after a month.
  const seenIds = new Set<string>()
  let count = 0

  // Keeps the raw bytes: the signature covers exactly these.
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  app.post<{ Params: { '*': string } }>('/*', async (request, reply) => {
    const { '*': path } = request.params
    const arrival = readArrival(request)
    try {
      const secrets = secretsByTenant.get(tenantOf(path))
      if (secrets === undefined) {
        throw new VerificationError(
          'unknown path',
          `unknown path /${path}. The receiver's addresses begin with ${addresses}`,
          404
        )
      }
      const event = verify(request, secrets)
      const { remark, error, ...handling } = handle(event, path)
      print('receiver', path, `${describe(event)}${remark}`)
      onArrival({ ...arrival, ...handling, isVerified: true, isTest: event.test === true })
      return reply.code(handling.status).send(error === undefined ? undefined : { error })
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error
      const { label, message: reason, status } = error
      print('receiver', path, `NOT verified, rejected: ${reason}`)
      onArrival({ ...arrival, label, reason, status })
      return reply.code(status).send({ error: reason })
    }
  })

  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({ error: `send a POST request. The receiver's addresses begin with ${addresses}` })
  )

  function handle ({ id }: WebhookEvent, path: string): Handling {
    const mode = modeByTenant.get(tenantOf(path))
    if (mode === 'broken') return fail(500, 'the receiver is broken')
    if (mode === 'gone') return fail(410, 'the receiver is gone')
    const key = `${path} ${id}`
    if (seenIds.has(key)) return { status: 204, isDuplicate: true, remark: `, duplicate, ignored: ${id}` }
    seenIds.add(key)
    count += 1
    if (stumbleEvery === 0 || count % stumbleEvery !== 0) return { status: 204, isDuplicate: false, remark: '' }
    return { ...fail(500, 'on purpose, to show a retry'), remark: `, returned 500 on purpose: ${id}` }
  }

  const url = await app.listen({ host: '127.0.0.1', port })
  return {
    url,
    trust (tenantSlug, secret) {
      secretsByTenant.get(tenantSlug)?.push(secret)
    },
    setMode (tenantSlug, mode) {
      modeByTenant.set(tenantSlug, mode)
    },
    readModes: () => Object.fromEntries(modeByTenant),
    close: () => app.close()
  }
}

function fail (status: number, error: string): Handling {
  return { status, isDuplicate: false, error, remark: `, returned ${status}: ${error}` }
}

function describe ({ type, timestamp, test }: WebhookEvent): string {
  const name = test === true ? `${type} (test)` : type
  return `${name.padEnd(26)} verified, ${formatDuration(Date.now() - Date.parse(timestamp))} after the event`
}

function formatDuration (ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`
}

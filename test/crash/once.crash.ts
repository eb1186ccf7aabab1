import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import pg from 'pg'
import t, { type Test } from 'tap'
import { apiKeys, postgresKeyLookup, postgresStorage } from '../../src/storages/postgres/index.js'
import { hashApiKey } from '../../src/index.js'
import { systemClock } from '../../src/core/shared/clock.js'
import { createSecretBox } from '../../src/core/webhooks/secrets.js'
import { allScopes, bearer, buildApp } from '../fixtures/api/app.js'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'
import { createRandom, type Random } from '../simulation/random.js'
import { pickSeed } from '../sync/proof/seed.js'

const count = Number(process.env.REQUESTS ?? 3000)
const clients = 8
const secretKeys = [Buffer.alloc(32, 1)]
const tenants = Array.from({ length: clients }, (_, index) => `tenant-${index}`)

/** The API's response to a request. */
interface Received {
  status: number
  body: string
  isRepeated: boolean
}

/** A request, and what must be true after it. */
interface Work {
  path: string
  payload: object
  /** Throws unless the request took effect exactly once and `data` is its result, or not at all if `data` is `null`. */
  check (data: Record<string, unknown> | null): Promise<void>
}

t.setTimeout(0)

t.test(`${count} requests over connections that lose the database's answers take effect once`, { timeout: 3_600_000 }, async (t) => {
  const { pool, server, storage } = await startPostgresHost(t)
  const seed = pickSeed(t)
  const random = createRandom(seed)
  const fault = { chance: 0, cuts: 0 }
  const url = new URL(server.url)
  const serve = (own: pg.Pool): Promise<FastifyInstance> => buildApp(t, {
    storage: postgresStorage(own),
    keyLookup: postgresKeyLookup(own),
    secretKeys,
    errorDetails: true,
    maxWebhooksPerTenant: 10_000,
    delivery: { worker: false },
    openapi: false
  })
  const calm = await serve(pool)
  // Two processes share nothing but the database.
  const apps = await Promise.all([1, 2].map(async () => {
    const port = await startProxy(t, { host: url.hostname, port: Number(url.port) }, random, fault)
    const connectionString = Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href
    const own = new pg.Pool({ connectionString, max: 6, connectionTimeoutMillis: 5000 })
    const app = await serve(own)
    t.teardown(() => own.end())
    return app
  }))
  const keys = new Map<string, string>()
  for (const tenantSlug of tenants) {
    keys.set(tenantSlug, (await apiKeys(pool).issue({ tenantSlug, scopes: allScopes })).key)
  }
  const box = createSecretBox(secretKeys, systemClock)
  const seen = { requests: 0, failures: 0, repeated: 0, conflicts: 0, unanswered: 0, found: 0 }
  let number = 0

  async function selectOne (text: string, values: unknown[]): Promise<Record<string, unknown>> {
    return (await pool.query(text, values)).rows[0]
  }

  function expect (actual: unknown, expected: unknown, what: string): void {
    if (JSON.stringify(actual) !== JSON.stringify(expected)) {
      throw new Error(`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}, SEED=${seed}`)
    }
  }

  async function addWebhook (tenant: string, name: string): Promise<number> {
    const id = await storage.webhooks.nextId(tenant)
    await storage.webhooks.create(tenant, {
      id,
      tenantSlug: tenant,
      name,
      status: 'active',
      target_url: 'https://hooks.example.com/',
      event_types: ['job.created'],
      secret: await box.seal('whsec_first', tenant, id),
      created_by: { type: 'code', id: null }
    }, { maxPerTenant: 10_000 })
    return id
  }

  /** Records an event whose delivery to the webhook is skipped, and returns the delivery's id. */
  async function addSkipped (tenant: string, id: number): Promise<number> {
    await storage.deliveries.record(tenant, {
      id: `evt_${id}`, type: 'job.created', body: '{}', subject: null, tombstone: null, idempotencyKey: null, fingerprint: ''
    })
    for (const status of ['inactive', 'active'] as const) await storage.webhooks.update(tenant, id, { status })
    const [skipped] = await storage.deliveries.list(tenant, id, {
      sort: [{ field: 'id', direction: 'asc' }], filter: {}, offset: 0, limit: 1
    })
    return Number(skipped?.id)
  }

  async function checkQueued (id: number, queued: boolean): Promise<void> {
    const row = await selectOne('select count(*)::int as queued from recruiting.queue where webhook_id = $1', [id])
    expect(row.queued, queued ? 1 : 0, 'the queued deliveries')
  }

  async function checkKeys (name: string, expected: number, key: unknown): Promise<void> {
    const row = await selectOne('select array_agg(digest) as digests from recruiting.api_keys where name = $1', [name])
    const digests = (row.digests ?? []) as string[]
    expect(digests.length, expected, `the keys with the name ${name}`)
    if (typeof key === 'string') expect(digests.includes(hashApiKey(key)), true, 'the stored digest')
  }

  const kinds: Record<string, (tenant: string, name: string) => Promise<Work>> = {
    create: async (tenant, name) => ({
      path: 'webhooks',
      payload: { name, target_url: 'https://hooks.example.com/', event_types: ['job.created'] },
      async check (data) {
        const text = 'select count(*)::int as count, min(id)::int as id from recruiting.webhooks where name = $1'
        const row = await selectOne(text, [name])
        expect(row, data === null ? { count: 0, id: null } : { count: 1, id: data.id }, 'the created webhooks')
        if (data === null) return
        const [stored = ''] = await storage.webhooks.findSecrets(tenant, Number(data.id)) ?? []
        expect(await box.open(stored, tenant, Number(data.id)), data.secret, 'the stored secret')
      }
    }),
    rotateSecret: async (tenant, name) => {
      const id = await addWebhook(tenant, name)
      return {
        path: `webhooks/${id}/rotate_secret`,
        payload: { grace_period_seconds: 86400 },
        async check (data) {
          const stored = await storage.webhooks.findSecrets(tenant, id) ?? []
          const secrets = await Promise.all(stored.map((text) => box.open(text, tenant, id)))
          expect(secrets, [...data === null ? [] : [data.secret], 'whsec_first'], 'the valid secrets')
        }
      }
    },
    retry: async (tenant, name) => {
      const id = await addWebhook(tenant, name)
      return {
        path: `webhooks/${id}/deliveries/${await addSkipped(tenant, id)}/retry`,
        payload: {},
        async check (data) {
          await checkQueued(id, data !== null)
          if (data !== null) expect(data.status, 'pending', 'the status of the retried delivery')
        }
      }
    },
    replay: async (tenant, name) => {
      const id = await addWebhook(tenant, name)
      await addSkipped(tenant, id)
      return {
        path: `webhooks/${id}/replay`,
        payload: { include: 'all', event_ids: [`evt_${id}`] },
        async check (data) {
          await checkQueued(id, data !== null)
          if (data !== null) expect(data.queued, 1, 'the reported number')
        }
      }
    },
    createKey: async (_tenant, name) => ({
      path: 'api_keys',
      payload: { name, scopes: ['jobs:read'] },
      check: (data) => checkKeys(name, data === null ? 0 : 1, data?.key)
    }),
    rotateKey: async (tenant, name) => {
      const { id } = await apiKeys(pool).issue({ tenantSlug: tenant, name, scopes: ['jobs:read'] })
      return {
        path: `api_keys/${id}/rotate`,
        payload: {},
        check: (data) => checkKeys(name, data === null ? 1 : 2, data?.key)
      }
    }
  }

  async function send (app: FastifyInstance, tenant: string, { path, payload }: Work, key: string): Promise<Received> {
    seen.requests++
    const { statusCode, body, headers } = await app.inject({
      method: 'POST',
      url: `/api/v1/public/${tenant}/${path}`,
      headers: { ...bearer(String(keys.get(tenant))), 'idempotency-key': key },
      payload
    })
    const isRepeated = headers['idempotent-replayed'] === 'true'
    if (isRepeated) seen.repeated++
    return { status: statusCode, body, isRepeated }
  }

  /** Sends a request until it succeeds or its client gives up, sometimes twice at once. Then checks its effect. */
  async function runOne (tenant: string): Promise<void> {
    const name = `work-${++number}`
    const kind = random.pick(Object.keys(kinds))
    const work = await kinds[kind]?.(tenant, name) as Work
    const bodies = new Set<string>()
    const patience = random.pick([1, 2, 60, 60])
    for (let tries = 0; tries < patience && (bodies.size === 0 || random.chance(0.3)); tries++) {
      const attempts = random.chance(0.2) ? [1, 2] : [1]
      const received = await Promise.all(attempts.map(() => send(random.pick(apps), tenant, work, name)))
      for (const { status, body } of received) {
        if (status < 300) bodies.add(body)
        else if (status === 409 && attempts.length > 1) seen.conflicts++
        else if (status === 500 && !body.includes('outcome_unknown')) seen.failures++
        else throw new Error(`${kind} ${name} got ${status} ${body}`)
      }
    }
    if (bodies.size === 0) {
      seen.unanswered++
      const hasNoEffect = await work.check(null).then(() => true, () => false)
      if (hasNoEffect) return
      seen.found++
    }
    const last = await send(calm, tenant, work, name)
    bodies.add(last.body)
    expect([last.isRepeated, bodies.size], [true, 1], `${kind} ${name}: the answers ${[...bodies].join()}`)
    await work.check(JSON.parse(last.body).data)
  }

  fault.chance = 0.03
  await Promise.all(tenants.map(async (tenant) => {
    while (number < count) {
      await runOne(tenant)
      // A tenant can have 50 keys.
      await pool.query("delete from recruiting.api_keys where tenant = $1 and name like 'work-%'", [tenant])
    }
  }))
  fault.chance = 0
  t.comment(JSON.stringify({ ...seen, ...fault }))
  t.ok(seen.repeated > count / 20 && seen.failures > count / 20, 'many connections were lost, many answers repeated')
})

/** Starts a proxy of the database that sometimes cuts a connection within an answer. */
async function startProxy (
  t: Test, database: { host: string, port: number }, random: Random, fault: { chance: number, cuts: number }
): Promise<number> {
  const sockets = new Set<Socket>()
  const proxy = createServer((client) => {
    const server = connect(database)
    for (const [socket, other] of [[client, server], [server, client]] as const) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    client.pipe(server)
    server.on('data', (chunk) => {
      if (!random.chance(fault.chance)) return client.write(chunk)
      fault.cuts++
      client.write(chunk.subarray(0, random.integer(0, chunk.length - 1)), () => client.destroy())
      server.destroy()
    })
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })
  return (proxy.address() as AddressInfo).port
}

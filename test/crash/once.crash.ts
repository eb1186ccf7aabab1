import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { hashApiKey } from '../../src/index.js'
import { apiKeys } from '../../src/storages/postgres/index.js'
import { systemClock } from '../../src/core/shared/clock.js'
import { createSecretBox } from '../../src/core/webhooks/secrets.js'
import { allScopes, bearer } from '../fixtures/api/app.js'
import { kill, startProcess } from '../fixtures/crash/crash.js'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'
import { createRandom } from '../simulation/random.js'
import { pickSeed } from '../sync/proof/seed.js'

const count = Number(process.env.REQUESTS ?? 3000)
const clients = 8
/** After a kill, a request of the host or a test counts as running for this long. */
const leaseMs = 30_000
const secretKeys = [Buffer.alloc(32, 1)]
const tenants = Array.from({ length: clients }, (_, index) => `tenant-${index}`)

/** The API's response to a request; `null` if it was lost. */
type Received = { status: number, body: string, isRepeated: boolean } | null

/** A process that serves the API. */
interface Server {
  port: number
  /** `null` while it is killed and starts again. */
  child: ReturnType<typeof startProcess> | null
  start (): Promise<void>
}

/** A request, and what must be true after it. */
interface Prepared {
  path: string
  payload: object
  /** Throws unless the request took effect exactly once and `data` is its result, or not at all if `data` is `null`. */
  check (data: Record<string, unknown> | null): Promise<void>
}

interface Work extends Prepared {
  kind: string
  name: string
  tenant: string
  /** Whether its answer is stored with the work, so that its outcome is never unknown. */
  isAtomic: boolean
}

t.setTimeout(0)

t.test(`${count} requests to two processes that are killed and lose the database's answers take effect once`, {
  timeout: 3_600_000
}, async (t) => {
  const { pool, server: database, storage } = await startPostgresHost(t)
  await pool.query('create table public.orders (name text)')
  const receiver = await startReceiver(t)
  const seed = pickSeed(t)
  const random = createRandom(seed)
  const fault = { chance: 0, cuts: 0, kills: 0 }
  const url = new URL(database.url)
  // The processes share nothing but the database.
  const servers = await Promise.all([1, 2].map(() => startServer()))
  const keys = new Map<string, string>()
  for (const tenantSlug of tenants) {
    keys.set(tenantSlug, (await apiKeys(pool).issue({ tenantSlug, scopes: allScopes })).key)
  }
  const box = createSecretBox(secretKeys, systemClock)
  const seen = { requests: 0, failures: 0, lost: 0, repeated: 0, conflicts: 0, unknown: 0, untried: 0 }
  const works: Array<{ work: Work, body: string | null }> = []
  let number = 0
  let isOver = false

  /** Starts a process behind a proxy of the database. */
  async function startServer (): Promise<Server> {
    const server: Server = {
      port: 0,
      child: null,
      async start () {
        const child = startProcess(t, 'crash-once', Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href)
        const [line] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
        Object.assign(server, { child, port: Number(line) })
      }
    }
    const port = await startProxy(t, { host: url.hostname, port: Number(url.port) }, (chunk) => {
      // Without an answer, a process does not start.
      if (server.child === null || !random.chance(fault.chance)) return null
      fault.cuts++
      return chunk.subarray(0, random.integer(0, chunk.length - 1))
    })
    await server.start()
    return server
  }

  async function selectOne (text: string, values: unknown[]): Promise<Record<string, unknown>> {
    return (await pool.query(text, values)).rows[0]
  }

  function expect (actual: unknown, expected: unknown, what: string): void {
    if (JSON.stringify(actual) !== JSON.stringify(expected)) {
      throw new Error(`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}, SEED=${seed}`)
    }
  }

  async function addWebhook (
    tenant: string, name: string, targetUrl = 'https://hooks.example.com/'
  ): Promise<number> {
    const id = await storage.webhooks.nextId(tenant)
    await storage.webhooks.create(tenant, {
      id,
      tenantSlug: tenant,
      name,
      status: 'active',
      target_url: targetUrl,
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
    const row = await selectOne(`
      select count(*)::int as queued from recruiting.queue q join recruiting.events e on e.seq = q.event_seq
      where q.webhook_id = $1 and e.id = $2`, [id, `evt_${id}`])
    expect(row.queued, queued ? 1 : 0, 'the queued deliveries')
  }

  async function checkKeys (name: string, expected: number, key: unknown): Promise<void> {
    const row = await selectOne('select array_agg(digest) as digests from recruiting.api_keys where name = $1', [name])
    const digests = (row.digests ?? []) as string[]
    expect(digests.length, expected, `the keys with the name ${name}`)
    if (typeof key === 'string') expect(digests.includes(hashApiKey(key)), true, 'the stored digest')
  }

  const kinds: Record<string, (tenant: string, name: string) => Promise<Prepared>> = {
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
    },
    test: async (tenant, name) => ({
      path: `webhooks/${await addWebhook(tenant, name, `http://127.0.0.1:${receiver.port}/${name}`)}/dispatch_test`,
      payload: {},
      async check (data) {
        const arrived = receiver.requests.filter(({ path }) => path === `/${name}`)
        expect(arrived.length, data === null ? 0 : 1, 'the tests that arrived')
      }
    }),
    order: async (_tenant, name) => ({
      path: 'orders',
      payload: { name },
      async check (data) {
        const row = await selectOne('select count(*)::int as count from public.orders where name = $1', [name])
        expect(row.count, data === null ? 0 : 1, 'the orders')
      }
    })
  }
  const leased = ['test', 'order']

  async function send (server: Server, { tenant, path, payload }: Work, key: string): Promise<Received> {
    seen.requests++
    try {
      const response = await fetch(`http://127.0.0.1:${server.port}/api/v1/public/${tenant}/${path}`, {
        method: 'POST',
        headers: {
          ...bearer(String(keys.get(tenant))), 'idempotency-key': key, 'content-type': 'application/json'
        },
        body: JSON.stringify(payload)
      })
      const isRepeated = response.headers.get('idempotent-replayed') === 'true'
      if (isRepeated) seen.repeated++
      return { status: response.status, body: await response.text(), isRepeated }
    } catch {
      seen.lost++
      return null
    }
  }

  /** Sends a request until it succeeds or its client gives up, sometimes twice at once. */
  async function runOne (tenant: string): Promise<void> {
    const name = `work-${++number}`
    const kind = random.pick(Object.keys(kinds))
    const isAtomic = !leased.includes(kind)
    const work: Work = { kind, name, tenant, isAtomic, ...await kinds[kind]?.(tenant, name) as Prepared }
    const bodies = new Set<string>()
    const patience = random.pick([1, 2, 60, 60])
    let lostAt = -Infinity
    let hasFailed = false
    for (let tries = 0; tries < patience && (bodies.size === 0 || random.chance(0.3)); tries++) {
      const attempts = random.chance(0.2) ? [1, 2] : [1]
      const received = await Promise.all(attempts.map(async () => {
        const server = random.pick(servers)
        const { child } = server
        const answer = await send(server, work, name)
        if (answer !== null || child === null || server.child !== child) return answer
        throw new Error(`${kind} ${name} was not answered, SEED=${seed}`)
      }))
      for (const answer of received) {
        if (answer === null) {
          lostAt = Date.now()
          hasFailed = true
          continue
        }
        const { status, body } = answer
        if (status < 300) bodies.add(body)
        else if (status === 500 && !body.includes('outcome_unknown')) {
          hasFailed = true
          seen.failures++
        } else if (status === 500 && !isAtomic && hasFailed && bodies.size === 0) {
          seen.unknown++
          tries = patience
        } else if (status === 409 && (attempts.length > 1 || Date.now() < lostAt + leaseMs)) {
          seen.conflicts++
          if (!isAtomic && attempts.length === 1) tries = patience
        } else throw new Error(`${kind} ${name} got ${status} ${body}, SEED=${seed}`)
      }
      if (received.includes(null)) await sleep(random.integer(0, 100))
    }
    expect(bodies.size <= 1, true, `${kind} ${name}: the answers ${[...bodies].join()}`)
    const [body = null] = bodies
    if (body !== null) await work.check(JSON.parse(body).data)
    works.push({ work, body })
  }

  /** Repeats a request after all faults: it took effect once, or its outcome is unknown, and its response is right. */
  async function runLast ({ work, body }: typeof works[number]): Promise<void> {
    const { kind, name, isAtomic, check } = work
    const hasNoEffect = await check(null).then(() => true, () => false)
    const last = await send(random.pick(servers), work, name)
    if (last === null) throw new Error(`${kind} ${name} was not answered, SEED=${seed}`)
    if (last.status === 500 && !isAtomic && body === null && last.body.includes('outcome_unknown')) {
      seen.unknown++
      if (!hasNoEffect) await check({})
      return
    }
    if (last.status >= 300) throw new Error(`${kind} ${name} got ${last.status} ${last.body}, SEED=${seed}`)
    expect(last.isRepeated, !hasNoEffect, `whether ${kind} ${name} is repeated`)
    if (body === null && hasNoEffect) seen.untried++
    if (body !== null) expect(last.body, body, `the answer to ${kind} ${name}`)
    await check(JSON.parse(last.body).data)
  }

  async function killSometimes (): Promise<void> {
    while (!isOver) {
      await sleep(random.integer(200, 2000))
      const server = random.pick(servers)
      const { child } = server
      server.child = null
      if (child !== null) await kill(child)
      fault.kills++
      await sleep(random.integer(0, 300))
      await server.start()
    }
  }

  fault.chance = 0.03
  const killing = killSometimes()
  await Promise.all(tenants.map(async (tenant) => { while (number < count) await runOne(tenant) }))
    .finally(() => { isOver = true })
  await killing
  fault.chance = 0
  await sleep(leaseMs)
  await Promise.all(tenants.map(async (tenant) => {
    for (const one of works) if (one.work.tenant === tenant) await runLast(one)
  }))
  t.comment(JSON.stringify({ ...seen, ...fault }))
  t.ok(seen.repeated > count / 20 && seen.failures > count / 20 && seen.lost > fault.kills, 'many answers were lost')
})

/**
 * Starts a proxy of the database. `cut` returns the part of an answer after which it cuts the connection; `null` for
 * the whole answer.
 */
async function startProxy (
  t: Test, database: { host: string, port: number }, cut: (chunk: Buffer) => Buffer | null
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
      const part = cut(chunk)
      if (part === null) return client.write(chunk)
      client.write(part, () => client.destroy())
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

import { readFileSync } from 'node:fs'
import pg from 'pg'
import { createRecruiting } from 'fastify-recruiting-api'
import { migrate, postgresStorage } from 'fastify-recruiting-api/postgres'
import { createEventData } from '../deliver/work.js'
import { startDatabase } from '../harness/database.js'
import { printFigure, quantile } from '../harness/fill.js'

/*
 * The cost of agents' subscriptions for calls that they should not slow down: an emit, a claim, and a page of the feed.
 * Compares schemas without them, with them and with as many more webhooks, in alternating rounds, by the CPU time of
 * this process and of PostgreSQL's.
 */
const rounds = 40
const many = 1000
const type = 'application.created'
const tenantSlug = 'acme'

const database = await startDatabase()
const none = await openSchema('none', 0, createWebhook)
const others = {
  webhooks: await openSchema('webhooks', many, createWebhook), agents: await openSchema('agents', many, subscribe)
}

console.log(`\nagents: CPU with ${many} subscriptions, and with as many more webhooks (medians of ${rounds} rounds)`)
for (const name of ['emit', 'claim', 'page'] as const) {
  const ratios = { webhooks: [] as number[], agents: [] as number[] }
  for (let round = 0; round <= rounds; round++) {
    const [one, other] = round % 2 === 0 ? ['webhooks', 'agents'] as const : ['agents', 'webhooks'] as const
    const first = await others[one].measure(name)
    const base = await none.measure(name)
    const last = await others[other].measure(name)
    // The first round fills caches.
    if (round === 0) continue
    ratios[one].push(first / base)
    ratios[other].push(last / base)
  }
  for (const [kind, values] of Object.entries(ratios)) {
    const target = kind === 'agents' ? 1.02 : null
    const [low, high] = [0.25, 0.75].map((share) => quantile(values, share).toPrecision(3))
    printFigure(`${name} with ${kind} (quartiles ${low}, ${high}), against none`, quantile(values), target, 'times')
  }
}
for (const { close } of [none, ...Object.values(others)]) await close()
await database.close()

type Storage = ReturnType<typeof postgresStorage>

async function createWebhook ({ webhooks }: Storage, tenant: string, index: number, of = 'job.closed'): Promise<void> {
  await webhooks.create(tenant, {
    id: await webhooks.nextId(tenant),
    tenantSlug: tenant,
    name: 'CRM',
    status: 'active',
    target_url: `https://example.com/${index}`,
    event_types: [of],
    secret: 'x'
  }, { maxPerTenant: many })
}

async function subscribe ({ webhooks, subscriptions, feed }: Storage, tenant: string, index: number): Promise<void> {
  await subscriptions.put(tenant, {
    id: `sub_${index}`,
    webhookId: await webhooks.nextId(tenant),
    tenantSlug: tenant,
    principal: `key_${index}`,
    targetUrl: `https://agent.example/${index}`,
    eventType: type,
    filters: index % 2 === 0 ? null : { 'data.job_id': [index] },
    secret: 'secret',
    gracePeriodSeconds: 0,
    ttlSeconds: 86_400,
    position: await feed.end(tenant),
    isVerified: true
  }, { perTenant: many, perPrincipal: many })
}

/** Creates a schema with 20 webhooks of acme, 200 events with deliveries, and others, a fifth of them acme's. */
async function openSchema (schema: string, count: number, create: typeof subscribe) {
  await migrate(database.pool, { schema })
  const pool = new pg.Pool({
    connectionString: database.url, max: 1, connectionTimeoutMillis: 5000, idleTimeoutMillis: 0
  })
  const { rows: [{ pid }] } = await pool.query('select pg_backend_pid() as pid')
  const storage = postgresStorage(pool, { schema })
  const recruiting = createRecruiting({ storage, delivery: false })
  const { deliveries, feed } = storage
  for (let index = 0; index < 20; index++) {
    await createWebhook(storage, tenantSlug, index, index === 0 ? type : 'job.created')
  }
  for (let index = 0; index < count; index++) {
    await create(storage, index % 5 === 0 ? tenantSlug : `tenant_${index % 50}`, index)
  }
  const data = createEventData(1)
  for (let index = 0; index < 200; index++) {
    await recruiting.emit({ tenantSlug, type: index % 2 === 0 ? type : 'job.created', data })
  }
  const start = await feed.endBefore(tenantSlug, '2001-01-01T00:00:00.000Z')
  await database.pool.query('vacuum analyze')

  const calls = {
    async emit () {
      const client = await pool.connect()
      await client.query('begin')
      for (let left = 200; left > 0; left--) await recruiting.emit({ tenantSlug, type, data }, { transaction: client })
      await client.query('rollback')
      client.release()
    },
    async claim () {
      for (let left = 60; left > 0; left--) {
        const claimed = await deliveries.claimDue({ limit: 64, perEndpoint: 4, leaseMs: 60_000 })
        if (claimed.length === 0) throw new Error('nothing was due')
        await deliveries.release(claimed)
      }
    },
    async page () {
      for (let left = 100; left > 0; left--) {
        await feed.list(tenantSlug, { after: start, limit: 100, eventTypes: null })
      }
    }
  }

  return {
    async measure (name: keyof typeof calls): Promise<number> {
      const cpu = (): number => {
        const { user, system } = process.cpuUsage()
        return user + system + Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000
      }
      const before = cpu()
      await calls[name]()
      return cpu() - before
    },
    async close (): Promise<void> {
      await recruiting.close()
      await pool.end()
    }
  }
}

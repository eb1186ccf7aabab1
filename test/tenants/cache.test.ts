import t, { type Test } from 'tap'
import type { RecruitingStorage } from '../../src/core/ports/index.js'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { bearer, buildApp } from '../fixtures/api/app.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'

const type = 'application.created' as const

/** Starts two server processes of a vendor with the tenant 41, which is called acme. */
async function startServers (t: Test, storage: RecruitingStorage, tenantCacheSeconds = 3600) {
  const clock = createManualClock(Date.now())
  const companies = new Map<string, number>([['acme', 41]])
  const asked: unknown[] = []
  const host = { answer: async (): Promise<void> => {} }

  async function start () {
    const { recruiting, inject } = await buildApp(t, {
      storage,
      keyLookup: ({ tenantId, key }) => tenantId === key ? { id: key, scopes: ['jobs:read'] } : null,
      tenantCacheSeconds,
      async tenantId (slug) {
        asked.push(slug)
        const id = companies.get(slug) ?? null
        await host.answer()
        return id
      },
      async tenantSlug (id, transaction) {
        asked.push(transaction === undefined ? id : [id, transaction])
        return [...companies].find((company) => String(company[1]) === id)?.[0] ?? null
      },
      delivery: { worker: false, clock }
    })
    const ask = async (slug: string, key = '41'): Promise<number> =>
      (await inject({ url: `/api/v1/public/${slug}/jobs`, headers: bearer(key) })).statusCode
    /** Emits by id, and returns the slug in the body. */
    async function emit (transaction?: unknown): Promise<string> {
      await recruiting.emit({ tenantId: 41, type, data: {} }, { transaction })
      const [body = ''] = await storage.feed?.latest('41', { limit: 1, eventTypes: null }) ?? []
      return JSON.parse(body).tenant_slug
    }
    // The first request reads the latest renames. Without them, a process uses no cache.
    await ask('nobody')
    return { recruiting, ask, emit }
  }

  const [one, other] = [await start(), await start()]
  asked.length = 0
  return { one, other, companies, asked, host, clock }
}

t.test('answers are cached for requests and emits, but no null and no failure', async (t) => {
  const { one, asked, host, clock } = await startServers(t, memoryStorage(), 60)
  const { recruiting, ask, emit } = one
  const askedBy = async (work: () => Promise<unknown>): Promise<unknown[]> => {
    asked.length = 0
    await work()
    return [...asked]
  }
  t.same(await askedBy(async () => t.same(await Promise.all([ask('acme'), ask('acme')]), [200, 200])), ['acme'], 'concurrent requests')
  t.same(await askedBy(() => recruiting.emit({ tenantSlug: 'acme', type, data: {} })), [])
  t.same(await askedBy(async () => t.same([await emit(), await emit()], ['acme', 'acme'])), ['41'])
  t.same(await askedBy(() => recruiting.webhooks.list('acme')), ['acme'], 'other calls always ask')
  for (let times = 0; times < 2; times++) t.same(await askedBy(() => ask('nobody')), ['nobody'])
  // With a request every few seconds, the process knows each rename.
  for (let times = 0; times < 14; times++) {
    await clock.skip(4000)
    t.same(await askedBy(() => ask('acme')), [])
  }
  await clock.skip(4000)
  t.same(await askedBy(() => ask('acme')), ['acme'], 'after a minute')
  await clock.skip(5001)
  t.same(await askedBy(() => ask('acme')), ['acme'], 'when it does not know the renames of the last 5 seconds')

  host.answer = async () => { throw new Error('no database') }
  t.same(await askedBy(async () => t.same([await ask('acme', 'wrong'), await ask('failing')], [401, 500])), ['failing'])
  host.answer = async () => {}
  t.same(await askedBy(async () => t.equal(await ask('failing'), 401)), ['failing'])
})

t.test('in a transaction, a cached answer is used, and others are neither cached nor awaited', async (t) => {
  const spied = spyStorage(memoryStorage(), ({ method, args }, real) => {
    // In memory, a transaction is rejected.
    if (method === 'deliveries.record') args.length = 2
    return real()
  })
  const { one: { emit }, asked, companies } = await startServers(t, spied.storage)
  companies.clear()
  companies.set('created', 41)
  t.equal(await emit('transaction'), 'created')
  t.same(asked, ['41', ['41', 'transaction']])
  t.equal(await emit('transaction'), 'created')
  t.equal(asked.length, 2)
})

async function startPostgres (t: Test): Promise<RecruitingStorage> {
  const { storage, pool, schema } = await startPostgresHost(t, { changes: 'manual' })
  for (const table of ['candidates', 'jobs']) {
    await pool.query(`alter table ${schema}.${table} rename tenant_slug to tenant_id`)
  }
  return storage
}

for (const name of ['memory', 'PostgreSQL']) {
  t.test(`within 5 seconds of a rename or removal, no process uses an older answer (${name})`, async (t) => {
    const storage = name === 'memory' ? memoryStorage() : await startPostgres(t)
    const { one, other, companies, host, clock } = await startServers(t, storage)
    const look = async ({ ask, emit }: typeof one): Promise<unknown[]> => [await ask('acme'), await ask('acme', '42'), await emit()]
    t.same([await look(one), await look(other)], [[200, 401, 'acme'], [200, 401, 'acme']])
    companies.clear()
    companies.set('acme-corp', 41).set('acme', 42)
    t.same([await look(one), await look(other)], [[200, 401, 'acme'], [200, 401, 'acme']], 'before the call')
    await one.recruiting.renameTenant({ tenantId: 41 }, 'acme-corp')
    t.same(await look(one), [401, 200, 'acme-corp'], 'in this process immediately')
    await clock.skip(5001)
    t.same(await look(other), [401, 200, 'acme-corp'])

    // The other process asked before the removal, and gets the answer after it.
    let answer = (): void => {}
    await clock.skip(5001)
    await other.ask('nobody')
    await one.recruiting.renameTenant({ tenantId: 41 }, 'acme-corp')
    await clock.skip(2001)
    await other.ask('nobody')
    host.answer = () => new Promise((resolve) => { answer = resolve })
    const asking = other.ask('acme', '42')
    companies.delete('acme')
    await one.recruiting.removeTenant({ tenantId: 42 })
    await clock.skip(5001)
    host.answer = async () => {}
    t.equal(await other.ask('acme', '42'), 401)
    answer()
    await asking
    t.equal(await other.ask('acme', '42'), 401, 'the late answer is not cached')
  })
}

t.test('renameTenant and removeTenant look tenants up, although another process has just renamed one', async (t) => {
  const { one, other, companies } = await startServers(t, memoryStorage())
  companies.set('globex', 42)
  t.same([await other.ask('acme'), await other.ask('globex', '42')], [200, 200])
  companies.delete('acme')
  companies.set('acme-old', 41)
  await one.recruiting.renameTenant('acme', 'acme-old')
  companies.delete('globex')
  companies.set('acme', 42)
  t.same(await other.recruiting.renameTenant('globex', 'acme'), { webhooks: 0 })
  t.equal(await other.ask('acme', '42'), 200)
})

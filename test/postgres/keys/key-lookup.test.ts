import pg from 'pg'
import t from 'tap'
import { cacheKeyLookup, generateApiKey, hashApiKey } from '../../../src/index.js'
import { apiKeys, type PgPool, postgresKeyLookup, type PostgresKeyLookupOptions } from '../../../src/storages/postgres/index.js'
import { type KeyHarness, keyLookupCases } from '../../../src/tools/testing/index.js'
import { begin, startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { createManualClock } from '../../fixtures/delivery/manual-clock.js'

t.test('looking up keys', async (t) => {
  const { pool } = await startPostgresHost(t)
  const keys = apiKeys(pool)

  let connections = 0
  const counting: PgPool = {
    query: (text, values) => pool.query(text, values),
    connect () {
      connections++
      return pool.connect()
    }
  }
  const lookup = postgresKeyLookup(counting)

  async function importKey (key: string): Promise<void> {
    const text = "insert into recruiting.api_keys (id, digest, tenant, tenant_slug, scopes, created_at) values ($1, $2, 'acme', 'acme', '{jobs:read}', now())"
    await pool.query(text, [`imported ${key}`, hashApiKey(key)])
  }

  t.test('a key with a wrong checksum is rejected without a query', async (t) => {
    const { key } = await keys.issue({ tenantSlug: 'acme', scopes: [] })
    connections = 0
    for (let at = 3; at < key.length; at++) {
      const other = key.charAt(at) === 'a' ? 'b' : 'a'
      t.equal(await lookup({ tenantSlug: 'acme', tenantId: 'acme', key: key.slice(0, at) + other + key.slice(at + 1) }), null)
    }
    t.equal(connections, 0)
    t.equal(await lookup({ tenantSlug: 'acme', tenantId: 'acme', key: generateApiKey() }), null)
    t.equal(connections, 1, 'an unknown key with a valid checksum takes one query')
  })

  t.test('a key in any other form is looked up by digest', async (t) => {
    for (const key of ['sk_live_imported', `rk_${'x'.repeat(48)}`, `rk_${'x'.repeat(50)}`, 'a.b.c', `RK_${'x'.repeat(48)}`]) {
      await importKey(key)
      t.match(await lookup({ tenantSlug: 'acme', tenantId: 'acme', key }), { scopes: ['jobs:read'] }, key)
    }
    t.match(await keys.find({ tenantSlug: 'acme' }, 'imported a.b.c'), { start: null, name: null, createdBy: { type: 'code', id: null } })
    t.match((await keys.rotate({ tenantSlug: 'acme' }, 'imported a.b.c')).start, /^\w{4}$/)
  })

  t.test('a lookup that takes longer than queryTimeoutMs times out', async (t) => {
    const { key } = await keys.issue({ tenantSlug: 'acme', scopes: ['jobs:read'] })
    const hurried = postgresKeyLookup(pool, { queryTimeoutMs: 1000 })
    const client = await begin(pool, 'begin; lock table recruiting.api_keys')
    await t.rejects(hurried({ tenantSlug: 'acme', tenantId: 'acme', key }), {
      code: 'storage_timeout', message: 'PostgreSQL did not answer within 1000 ms: look up key'
    })
    await client.finish('rollback')
    t.match(await hurried({ tenantSlug: 'acme', tenantId: 'acme', key }), { scopes: ['jobs:read'] })
  })
})

t.test('lookups for one tenant leave connections for others', async (t) => {
  let connections = 0
  const lookup = postgresKeyLookup({
    query: () => Promise.reject(new Error('the pool is not queried')),
    connect () {
      connections++
      return new Promise(() => {})
    },
    options: { max: 10 }
  }, { queryTimeoutMs: 100 })
  const lookUp = (tenantId: string) => lookup({ tenantSlug: tenantId, tenantId, key: 'unknown' })
  const lookups = Array.from({ length: 8 }, () => lookUp('acme'))
  await new Promise(setImmediate)
  t.equal(connections, 4)
  lookups.push(lookUp('globex'))
  await new Promise(setImmediate)
  t.equal(connections, 5)
  const ended = await Promise.allSettled(lookups)
  t.ok(ended.every(({ status }) => status === 'rejected'))
})

const minute = 60_000

t.test('when a key was last used', async (t) => {
  const { server, pool } = await startPostgresHost(t)
  const keys = apiKeys(pool)
  const issue = () => keys.issue({ tenantSlug: 'acme', scopes: [] })
  const lastUsed = async (id: string): Promise<string | null | undefined> => (await keys.find({ tenantSlug: 'acme' }, id))?.lastUsedAt
  const setLastUsed = (id: string, secondsAgo: number) =>
    pool.query("update recruiting.api_keys set last_used_at = now() - $2 * interval '1 second' where id = $1", [id, secondsAgo])

  /** A separate process's lookup. */
  function startProcess (over: PgPool = pool, options: PostgresKeyLookupOptions = {}) {
    const borrowed: Array<Promise<void>> = []
    let writes = 0
    const watched: PgPool = {
      query: (text, values) => over.query(text, values),
      async connect () {
        let end = (): void => {}
        borrowed.push(new Promise((resolve) => { end = resolve }))
        const client = await over.connect().catch((error: unknown) => { end(); throw error })
        return {
          release (destroy) {
            client.release(destroy)
            end()
          },
          query (text, values) {
            if (/record uses of keys.*update/s.test(text)) writes++
            return client.query(text, values)
          }
        }
      }
    }
    const clock = createManualClock()
    const lookup = postgresKeyLookup(watched, { clock, ...options })
    return {
      clock,
      lookup,
      use: (key: string) => lookup({ tenantSlug: 'acme', tenantId: 'acme', key }),
      /** Advances a minute. Resolves, once no connection is in use, to the number of statements that wrote uses. */
      async pass (): Promise<number> {
        writes = 0
        await clock.advance(minute)
        while (borrowed.length > 0) {
          await Promise.all(borrowed.splice(0))
          await new Promise((resolve) => setImmediate(resolve))
        }
        return writes
      }
    }
  }

  t.test('is written a minute later, as the time of the last use', async (t) => {
    const { clock, use, pass } = startProcess()
    const { id, key } = await issue()
    await use(key)
    await clock.advance(20_000)
    await use(key)
    t.equal(await lastUsed(id), null, 'not while the request waits')
    t.equal(clock.timerCount, 1, 'one timer for all of them')
    t.equal(await pass(), 1)
    const agoMs = Date.now() - Date.parse(await lastUsed(id) ?? '')
    t.ok(agoMs >= 40_000 && agoMs < 45_000, `${agoMs} ms ago`)
    t.equal(clock.timerCount, 0)
    t.equal(await pass(), 0, 'nothing more is written')
  })

  t.test('is not written for a rejected key', async (t) => {
    const { clock, use } = startProcess()
    const { id, key } = await issue()
    await keys.revoke({ tenantSlug: 'acme' }, id)
    await use(key)
    await use(key.replace(/.$/, (last) => last === 'a' ? 'b' : 'a'))
    t.equal(clock.timerCount, 0)
  })

  t.test('is written once a minute per key, across all processes', async (t) => {
    const processes = [startProcess(), startProcess(), startProcess()]
    const { id, key } = await issue()
    const writtenBy = async (seconds: number): Promise<Array<string | null | undefined>> => {
      await setLastUsed(id, seconds)
      const before = await lastUsed(id)
      const values: Array<string | null | undefined> = []
      for (const { use, pass } of processes) {
        await use(key)
        t.equal(await pass(), 1)
        values.push(await lastUsed(id))
      }
      return values.filter((value, at) => value !== (at === 0 ? before : values[at - 1]))
    }
    t.equal((await writtenBy(30)).length, 0, 'half a minute after the last time')
    t.equal((await writtenBy(125)).length, 1, 'by the first of three')
  })

  t.test('is never set back by a process that writes late', async (t) => {
    const late = startProcess()
    const { id, key } = await issue()
    await late.use(key)
    await setLastUsed(id, 0)
    const newer = await lastUsed(id)
    await late.pass()
    t.equal(await lastUsed(id), newer)
  })

  t.test('is written for a thousand keys in one statement', async (t) => {
    const { lookup, pass } = startProcess()
    await pool.query(`insert into recruiting.api_keys (id, digest, tenant, tenant_slug, scopes, created_at)
      select 'many' || n, 'digest' || n, 'many', 'many', '{}', now() from generate_series(1, 2500) n`)
    for (let n = 1; n <= 2500; n++) lookup.recordUse?.(`many${n}`)
    t.equal(await pass(), 3)
    const used = (await keys.list({ tenantSlug: 'many' })).filter(({ lastUsedAt }) => lastUsedAt !== null)
    t.equal(used.length, 2500)
  })

  t.test('counts lookups answered by a cache', async (t) => {
    const { clock, lookup, pass } = startProcess()
    const { id, key } = await issue()
    const cached = cacheKeyLookup(lookup, { ttlMs: 3_600_000, clock })
    await cached({ tenantSlug: 'acme', tenantId: 'acme', key })
    await pass()
    await setLastUsed(id, 3600)
    t.match(await cached({ tenantSlug: 'acme', tenantId: 'acme', key }), { id })
    t.equal(await cached({ tenantSlug: 'globex', tenantId: 'globex', key }), null)
    t.equal(await cached({ tenantSlug: 'globex', tenantId: 'globex', key }), null)
    await pass()
    const agoMs = Date.now() - Date.parse(await lastUsed(id) ?? '')
    t.ok(agoMs >= minute && agoMs < 2 * minute, `${agoMs} ms ago`)
  })

  t.test('never waits: locked keys are skipped', async (t) => {
    const { use, pass } = startProcess()
    const [locked, other] = [await issue(), await issue()]
    await use(locked.key)
    await use(other.key)
    const client = await begin(pool)
    await client.query('select from recruiting.api_keys where id = $1 for update', [locked.id])
    t.equal(await pass(), 1)
    await client.finish('rollback')
    t.strictSame([await lastUsed(locked.id), typeof await lastUsed(other.id)], [null, 'string'])
  })

  t.test('is not written with recordUses: false', async (t) => {
    const { clock, lookup, use } = startProcess(pool, { recordUses: false })
    const { key } = await issue()
    t.match(await use(key), { scopes: [] })
    lookup.recordUse?.('key_1')
    t.equal(clock.timerCount, 0)
  })

  t.test('does not keep the process alive', async (t) => {
    const timers = (): number => process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length
    const before = timers()
    postgresKeyLookup(pool).recordUse?.('key_1')
    t.equal(timers(), before)
  })

  t.test('is lost if the database cannot be written, which is reported once', async (t) => {
    const warnings: Error[] = []
    const listen = (warning: Error): void => { if (warning.name === 'RecruitingWarning') warnings.push(warning) }
    process.on('warning', listen)
    t.teardown(() => process.off('warning', listen))
    let isBroken = true
    const { use, pass } = startProcess({ query: async () => ({ rows: [] }), connect: async () => isBroken ? Promise.reject(new Error('down')) : pool.connect() })
    const { id, key } = await issue()
    for (const broken of [true, true, false]) {
      isBroken = false
      t.match(await use(key), { id })
      isBroken = broken
      await pass()
    }
    await new Promise((resolve) => setImmediate(resolve))
    t.strictSame(warnings.map(({ message }) => message), ['last_used_at of API keys could not be written: Error: down'])
    t.type(await lastUsed(id), 'string', 'later uses are written again')
  })

  t.test('is lost silently if the host has ended its pool', async (t) => {
    const ending = new pg.Pool({ connectionString: server.url })
    const connects: number[] = []
    const over: PgPool = {
      query: (text, values) => ending.query(text, values),
      connect () { connects.push(1); return ending.connect() },
      get ending () { return ending.ending }
    }
    const clock = createManualClock()
    const lookup = postgresKeyLookup(over, { clock })
    const { key } = await issue()
    t.match(await lookup({ tenantSlug: 'acme', tenantId: 'acme', key }), { scopes: [] })
    await ending.end()
    await clock.advance(minute)
    t.equal(connects.length, 1)
  })
})

t.test('keys in PostgreSQL, with a prefix and a cache, pass the conformance kit', async (t) => {
  const { pool } = await startPostgresHost(t)
  const keys = apiKeys(pool, { prefix: 'acme', ownScopes: ['a:b'] })

  async function makeHarness (): Promise<KeyHarness> {
    await pool.query('delete from recruiting.api_keys')
    return {
      lookup: cacheKeyLookup(postgresKeyLookup(pool, { prefix: 'acme' })),
      async save ({ tenantSlug, scopes, state }) {
        const expiry = state === 'expired' ? { expiresAt: '2020-01-01T00:00:00Z' } : {}
        const { id, key } = await keys.issue({ tenantSlug, scopes, ...expiry })
        if (state === 'revoked') await keys.revoke({ tenantSlug }, id)
        return key
      }
    }
  }

  for (const { name, run } of keyLookupCases) await t.test(name, () => run(makeHarness))
})

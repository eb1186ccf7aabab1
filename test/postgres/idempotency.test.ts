import t from 'tap'
import { createClient } from '../../src/around/client/index.js'
import { memoryKeyLookup } from '../../src/storages/memory/index.js'
import { apiKeys, postgresKeyLookup, postgresStorage } from '../../src/storages/postgres/index.js'
import { systemClock } from '../../src/core/shared/clock.js'
import { createSecretBox } from '../../src/core/webhooks/secrets.js'
import { allScopes, apiKeys as knownKeys, bearer, buildApp, keys } from '../fixtures/api/app.js'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'

const webhook = { name: 'CRM', target_url: 'https://hooks.example.com/', event_types: ['job.created'] }
const attempt = { digest: 'd', fingerprint: 'f', claim: 'first', isAtomic: false, leaseMs: 60_000, keepMs: 60_000, maxDigests: 100 }

t.test('repeating a create after a lost response creates one webhook, even in another process', async (t) => {
  const { storage } = await startPostgresHost(t)
  const secretKeys = [Buffer.alloc(32, 1)]
  const servers = await Promise.all([1, 2].map(async () => {
    const app = await buildApp(t, {
      storage, secretKeys, keyLookup: memoryKeyLookup(knownKeys), server: { forceCloseConnections: true }
    })
    return app.listen({ port: 0, host: '127.0.0.1' })
  }))
  const answers: Array<{ data: { id: number, secret: string } }> = []
  const client = createClient({
    baseUrl: 'http://service/api/v1/public',
    tenantSlug: 'acme',
    key: keys.full,
    sleep: async () => {},
    async fetch (url, init) {
      const response = await fetch(String(url).replace('http://service', servers[answers.length % 2] ?? ''), init)
      answers.push(await response.clone().json() as typeof answers[number])
      if (answers.length < 4) throw new TypeError('the response is lost')
      return response
    }
  })
  const created = await client.webhooks.create(webhook)
  t.strictSame(answers.map(({ data }) => data), Array.from({ length: 4 }, () => created))
  const [stored, ...others] = await storage.webhooks.list('acme', { sort: [{ field: 'id', direction: 'asc' }], filter: {}, offset: 0, limit: 10 })
  t.strictSame([stored?.id, others], [created.id, []])
})

t.test('a 500 after a commit runs nothing twice: the repeat gets the answer, and a rollback runs again', async (t) => {
  const { pool, server, storage: direct } = await startPostgresHost(t)
  /** The fate of the next commits. */
  const fate = { commits: [] as string[] }
  const breaking = server.createPool()
  breaking.on('connect', (client) => {
    const query = client.query.bind(client)
    client.query = (async (text: string, values?: unknown[]) => {
      const next = /(?:create|rotate|retry|replay)[^*]*\*\/ commit$/.test(text) ? fate.commits.shift() : undefined
      if (next === 'lose') await query('rollback')
      else if (next === undefined) return query(text, values)
      else await query(text, values)
      throw new Error('the connection is lost')
    }) as never
  })
  const secretKeys = [Buffer.alloc(32, 1)]
  const parts = { storage: postgresStorage(breaking), secretKeys, delivery: { worker: false }, errorDetails: true }
  const apps = await Promise.all([1, 2].map(() => buildApp(t, { ...parts, keyLookup: postgresKeyLookup(breaking) })))
  const { key } = await apiKeys(pool).issue({ tenantSlug: 'acme', scopes: allScopes })
  const created = await apps[0]?.recruiting.webhooks.create({ tenantSlug: 'acme' }, webhook)
  await apps[0]?.recruiting.emit({ tenantSlug: 'acme', type: 'job.created', data: { id: 1 } } as never)
  for (const status of ['inactive', 'active'] as const) {
    await apps[0]?.recruiting.webhooks.update({ tenantSlug: 'acme' }, Number(created?.id), { status })
  }
  const [skipped] = await direct.deliveries.list('acme', Number(created?.id), {
    sort: [{ field: 'id', direction: 'asc' }], filter: {}, offset: 0, limit: 10
  })
  const { data: issued } = await (await apps[0]?.inject({
    method: 'POST', url: '/api/v1/public/acme/api_keys', headers: bearer(key), payload: { name: 'one', scopes: ['jobs:read'] }
  }))?.json()
  const count = async (): Promise<unknown> => {
    const tables = ['webhooks', 'api_keys', 'queue'].map((table) => `(select count(*) from recruiting.${table})::int as ${table}`)
    const secret = `(select secret from recruiting.webhooks where id = ${created?.id}) as secret`
    return (await pool.query(`select ${tables.join(', ')}, ${secret}`)).rows[0]
  }

  const id = created?.id
  for (const [path, payload] of [
    ['webhooks', webhook],
    [`webhooks/${id}/rotate_secret`, {}],
    [`webhooks/${id}/deliveries/${skipped?.id}/retry`, {}],
    [`webhooks/${id}/replay`, { include: 'all' }],
    ['api_keys', { name: 'two', scopes: ['jobs:read'] }],
    [`api_keys/${issued.id}/rotate`, {}]
  ] as const) {
    const send = async (app: typeof apps[number] | undefined, commits: string[]) => {
      fate.commits = commits
      const headers = { ...bearer(key), 'idempotency-key': path }
      return (await app?.inject({ method: 'POST', url: `/api/v1/public/acme/${path}`, headers, payload }))
    }
    const before = await count()
    t.equal((await send(apps[0], ['lose']))?.statusCode, 500, path)
    t.strictSame(await count(), before, `${path}: nothing has changed`)
    t.equal((await send(apps[1], ['keep']))?.statusCode, 500, path)
    const after = await count()
    if (!path.endsWith('replay')) t.strictNotSame(after, before, `${path}: the commit took effect`)
    const [again, others] = [await send(apps[0], []), await send(apps[1], [])]
    t.ok(Number(again?.statusCode) < 300, `${path}: ${again?.body}`)
    t.strictSame([again?.headers['idempotent-replayed'], others?.body], ['true', again?.body])
    t.strictSame(await count(), after, `${path}: nothing has changed again`)
    const { secret, key: text } = again?.json().data ?? {}
    if (text !== undefined) {
      t.equal((await apps[0]?.inject({ url: '/api/v1/public/acme/jobs', headers: bearer(text) }))?.statusCode, 200)
    }
    if (path.endsWith('secret')) {
      const [stored = ''] = await direct.webhooks.findSecrets('acme', Number(id)) ?? []
      t.equal(await createSecretBox(secretKeys, systemClock).open(stored, 'acme', Number(id)), secret)
    }
  }
})

t.test('prune deletes expired responses in batches', async (t) => {
  const { pool, storage } = await startPostgresHost(t)
  const { idempotency, deliveries } = storage
  for (const digest of ['a', 'b', 'c', 'd']) {
    await idempotency.claim('acme', { ...attempt, digest, keepMs: digest === 'd' ? 60_000 : 1 })
  }
  await pool.query("update recruiting.requests set expires_at = expires_at - interval '1 second'")
  const prune = () => deliveries.prune({ retentionDays: 30, limit: 2 })
  t.strictSame([await prune(), await prune(), await prune()], [2, 1, 0])
  t.strictSame((await pool.query('select digest from recruiting.requests')).rows, [{ digest: 'd' }])
})

t.test("the end of a removed tenant's rest deletes requests that were claimed late", async (t) => {
  const { pool, storage: { idempotency, webhooks } } = await startPostgresHost(t)
  await webhooks.removeTenant('acme', { limit: 10, restSeconds: 60 })
  await idempotency.claim('acme', attempt)
  await pool.query("update recruiting.tenants set rests_until = now() - interval '1 second' where rests_until is not null")
  await webhooks.listStates()
  t.match(await idempotency.claim('acme', { ...attempt, claim: 'next' }), { state: 'claimed' })
})

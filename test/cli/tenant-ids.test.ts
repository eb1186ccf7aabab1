import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { createRecruiting } from '../../src/index.js'
import { apiKeys, postgresKeyLookup } from '../../src/storages/postgres/index.js'
import { webhookInput } from '../fixtures/api/webhook-api.js'
import { createCli } from '../fixtures/cli/cli.js'
import { collect } from '../fixtures/collect.js'
import { silentLogger } from '../fixtures/delivery/silent-logger.js'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'

const secretKeys = [Buffer.alloc(32, 1)]
const type = 'application.created' as const
const ids: Record<string, number | string> = { acme: 41, globex: 'c42', initech: 43 }

/** A database, and servers without and with the option `tenantId`. */
async function start (t: Test) {
  const { pool, server, storage } = await startPostgresHost(t)
  const run = createCli(server.url)
  const folder = t.testdir({ keys: secretKeys.map((key) => key.toString('base64')).join('\n'), 'ids.json': JSON.stringify(ids) })
  function open (options: Partial<Parameters<typeof createRecruiting>[0]> = {}) {
    const recruiting = createRecruiting({ storage, secretKeys, delivery: false, logger: silentLogger, ...options })
    t.teardown(() => recruiting.close())
    return recruiting
  }
  const useIds = (more = '--yes') => run(`tenants use-ids ${folder}/ids.json --secret-keys ${folder}/keys ${more}`)
  const byId = open({ tenantId: (slug) => ids[slug] ?? null })
  return { pool, storage, run, useIds, folder, bySlug: open(), byId, open }
}

t.test('tenants use-ids moves each tenant\'s webhooks, keys and events to its id', async (t) => {
  const { pool, storage, useIds, bySlug, byId } = await start(t)
  const { id } = await bySlug.webhooks.create('acme', { ...webhookInput, headers: { 'x-token': 'secret' } })
  const { key } = await apiKeys(pool).issue({ tenantSlug: 'acme', scopes: [] })
  const event = await bySlug.emit({ tenantSlug: 'acme', type, data: {}, subject: 'candidate:1', idempotencyKey: 'one' })
  await bySlug.emit({ tenantSlug: 'globex', type, data: {} })
  await bySlug.changed({ tenantSlug: 'initech', kind: 'job', id: 1 })

  const planned = await useIds('--dry-run --json')
  t.match(JSON.parse(planned.out), { moved: [], planned: [{ slug: 'acme', id: '41' }, { slug: 'globex', id: 'c42' }, { slug: 'initech', id: '43' }] })
  t.match(await bySlug.webhooks.find('acme', id), { id }, 'a dry run changes nothing')

  t.match(await useIds(), { code: 0, out: 'moved the data of 3 tenants\n' })
  t.match(await byId.webhooks.find('acme', id), { id, headers: { 'x-token': null } })
  t.match(await storage.webhooks.findSecrets('41', id), [/^sealed_v1:/])
  t.type((await byId.webhooks.rotateSecret('acme', id, { grace_period_seconds: 60 })).secret, 'string')
  t.match(await byId.webhooks.sendTest('acme', id), { error: /./ }, 'the secret and headers can be decrypted for the new id')
  t.ok(await postgresKeyLookup(pool)({ tenantSlug: 'acme', tenantId: '41', key }))
  t.match(await collect(byId.findSubject('acme', 'candidate:1')), [{ eventId: event.id }])
  t.same(await byId.emit({ tenantSlug: 'acme', type, data: {}, subject: 'candidate:1', idempotencyKey: 'one' }), event)
  t.equal((await storage.feed.latest('c42', { limit: 9, eventTypes: null })).length, 1)
  t.match(await useIds(), { code: 0, out: 'nothing to do\n' })
})

t.test('tenants use-ids also moves data of a tenant that has already used its id', async (t) => {
  const { pool, storage, useIds, bySlug, byId } = await start(t)
  const old = await bySlug.webhooks.create('acme', webhookInput)
  const shared = { tenantSlug: 'acme', type, data: {}, subjects: ['candidate:1', 'job:1'], idempotencyKey: 'both' } as const
  const first = await bySlug.emit(shared)
  await pool.query(`
    insert into recruiting.events (id, tenant_key, type, body, fingerprint, recorded_at)
    select 'evt_' || n, 'acme', 'application.created', '{}', '', now() - interval '1 hour' from generate_series(1, 1500) as n`)
  const next = await byId.webhooks.create('acme', webhookInput)
  const second = await byId.emit(shared)
  t.not(first.id, second.id)

  t.match(await useIds(), { code: 0, err: /Moves the data of 1 tenant from slugs to ids/ })
  t.same((await byId.webhooks.list('acme')).data.map(({ id }) => id), [old.id, next.id])
  t.same((await collect(byId.findSubject('acme', 'job:1'))).map(({ eventId }) => eventId), [first.id, second.id])
  t.same(await byId.emit(shared), second, "the idempotency key belongs to the id's event")
  t.same((await pool.query('select count(distinct tenant_key)::int as keys, count(*)::int as events from recruiting.events')).rows,
    [{ keys: 1, events: 1502 }])
  t.same((await bySlug.webhooks.list('acme')).data, [])
  t.equal((await storage.webhooks.findSecrets('41', old.id))?.length, 1)
})

t.test('tenants use-ids rejects a file without an owner of stored data, and moves nothing', async (t) => {
  const { run, folder, useIds, bySlug, pool } = await start(t)
  await bySlug.webhooks.create('hooli', webhookInput)
  await bySlug.webhooks.create('acme', webhookInput)
  t.match(await useIds(), { code: 1, err: /FILE: no id for the tenants hooli, which have data/ })
  for (const [content, message] of [
    ['{"acme": 41, "hooli": 41}', /acme and hooli have the same id 41/], ['{"acme": "hooli", "hooli": 42}', /is the slug of another tenant/],
    ['{"acme": 1.5}', /expected the id of acme to be an integer/], ['{"": 1}', /expected a tenant slug/], ['[]', /expected a JSON object/],
    ['no', /expected a JSON object/]
  ] as const) {
    writeFileSync(`${folder}/other.json`, content)
    t.match(await run(`tenants use-ids ${folder}/other.json --yes`), { code: 2, err: message }, content)
  }
  t.match(await run(`tenants use-ids ${folder}/none.json --yes`), { code: 2, err: /cannot be read \(ENOENT\)/ })
  t.same((await pool.query('select tenant from recruiting.webhooks order by 1')).rows, [{ tenant: 'acme' }, { tenant: 'hooli' }])
})

t.test('doctor --tenant-ids and the log of servers with tenantId report data stored by slug', async (t) => {
  const { run, useIds, bySlug, open, pool } = await start(t)
  const logged: unknown[] = []
  const logger = { ...silentLogger, error: (fields: object, message: string) => { logged.push([fields, message]) } }
  async function startServer (tenantId: (slug: string) => string | number | null, lines = 0): Promise<unknown[]> {
    logged.length = 0
    const server = open({ logger, tenantId })
    await server.close()
    // The log line follows the storage's responses, and closing does not wait for it.
    do await new Promise((resolve) => setImmediate(resolve)); while (logged.length < lines)
    return [...logged]
  }
  const tenantId = (slug: string): string | number | null => ids[slug] ?? null
  t.same(await startServer(tenantId), [])
  await apiKeys(pool).issue({ tenantSlug: 'acme', scopes: [] })
  const check = async (flags: string) => {
    const { findings } = JSON.parse((await run(`doctor --no-lists --wait-seconds 0 --json ${flags}`)).out)
    return findings.filter(({ check: name }: { check: string }) => name === 'tenant ids')
  }
  t.match(await startServer(tenantId, 1), [[{ tenantSlug: 'acme', tenantId: '41' }, /tenants use-ids/]])
  t.same(await startServer((slug) => slug), [], 'an id may equal the slug')
  t.same(await startServer(() => { throw new Error('no database') }), [])
  t.match(await check('--tenant-ids'), [{ state: 'fault', text: /keys of acme are stored by slug/, remedy: /tenants use-ids/ }])
  t.same(await check(''), [], 'without the option, slugs are the ids')

  await useIds()
  t.same(await startServer(tenantId), [])
  await bySlug.close()
  await apiKeys(pool).issue({ tenantId: 44, scopes: [] })
  t.match(await check('--tenant-ids'), [{ state: 'ok' }], 'an integer without a known slug is an id')
})

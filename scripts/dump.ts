// Writes a dump of a filled schema of this version, as SQL that node-postgres can load: test/fixtures/postgres/dumps/VERSION.sql.

import { readFile, writeFile } from 'node:fs/promises'
import { createRecruiting } from '../src/index.js'
import { apiKeys, migrate, postgresStorage } from '../src/postgres/index.js'
import { readVersion } from '../src/postgres/upgrade/version.js'
import { createEvent, createWebhook, delivered, failed, lenient, retry } from '../src/testing/support/samples.js'
import { startPostgres } from '../test/fixtures/postgres/postgres-server.js'

const closers: Array<() => unknown> = []
const server = await startPostgres({ teardown: (close) => { closers.unshift(close) } })
const pool = server.createPool()
await migrate(pool)
await fill()
const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
await writeFile(new URL(`../test/fixtures/postgres/dumps/${version}.sql`, import.meta.url), await dump())
for (const close of closers) await close()
process.exit()

/** Makes at least one row of each table that is not normally empty. */
async function fill (): Promise<void> {
  const storage = postgresStorage(pool)
  const { webhooks, deliveries, changes } = storage
  const claim = () => deliveries.claimDue({ limit: 10, perEndpoint: 10, leaseMs: 1 })
  await storage.verify(null)
  const recruiting = createRecruiting({ storage, delivery: false })

  for (const [tenantSlug, status] of [['acme', 'active'], ['acme', 'inactive'], ['globex', 'active'], ['umbrella', 'active']] as const) {
    const id = await webhooks.nextId(tenantSlug)
    await webhooks.create(tenantSlug, { ...createWebhook(id), status, filters: status === 'active' ? null : { 'data.job_id': [7, null] } }, 10)
  }
  await webhooks.rotateSecret('acme', 1, { secret: 'secret-new', gracePeriodSeconds: 50 * 365 * 86_400 })
  await deliveries.record('acme', { ...createEvent('evt_1'), idempotencyKey: 'once', fingerprint: 'print' })
  await deliveries.recordAttempts((await claim()).map(delivered), lenient)
  await deliveries.record('acme', { ...createEvent('evt_2'), subject: 'candidate:1', otherSubjects: ['job:7'], tombstone: '{"erased":true}' })
  await deliveries.record('acme', createEvent('evt_3'))
  await deliveries.recordAttempts((await claim()).map((lease) => ({ ...retry(lease), responseExcerpt: 'try later' })), lenient)
  await deliveries.record('globex', createEvent('evt_4'))
  await deliveries.recordAttempts((await claim()).map((lease) => failed(lease, { isGone: true })), lenient)
  await deliveries.record('umbrella', createEvent('evt_5'))
  await recruiting.erase({ tenantSlug: 'acme', subject: 'candidate:1' })
  await apiKeys(pool).issue({ tenantSlug: 'acme', scopes: ['webhooks:read'], name: 'CRM' })
  await changes.record('acme', { kind: 'candidate', id: '1', deleted: false })
  await changes.prune({ retentionDays: 3650, limit: 10 })
  await changes.record('acme', { kind: 'candidate', id: '2', deleted: true })
  await recruiting.renameTenant('globex', 'initech')
  await recruiting.removeTenant('umbrella')
  await deliveries.record('acme', createEvent('evt_6'))
  await recruiting.close()
}

async function dump (): Promise<string> {
  const { migrations, functions } = await readVersion()
  const { rows: tables } = await pool.query("select tablename as name from pg_tables where schemaname = 'recruiting' order by 1")
  const { rows: sequences } = await pool.query("select sequencename as name, last_value as value from pg_sequences where schemaname = 'recruiting' and last_value is not null order by 1")
  const data = await Promise.all(tables.map(async ({ name }) => {
    const { rows: [{ json }] } = await pool.query(`select coalesce(json_agg(t), '[]')::text as json from recruiting.${name} t`)
    return `delete from ${name};\ninsert into ${name} overriding system value select * from json_populate_recordset(null::${name}, $json$${json}$json$);\n`
  }))
  const values = sequences.map(({ name, value }) => `select setval('${name}', ${value});\n`)
  return ['create schema recruiting;\nset search_path to recruiting, pg_temp;\n', ...migrations.values(), ...functions.values(), ...data, ...values].join('\n')
}

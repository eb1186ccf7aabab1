import { Registry } from 'prom-client'
import t from 'tap'
import { collectMetrics, createRecruiting } from '../../../src/index.js'
import { watch, watchSql, type WatchEmit } from '../../../src/storages/postgres/index.js'
import { adviseWatch } from '../../../src/storages/postgres/changes/watched-tables.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

interface Body {
  id: string
  type: string
  timestamp: string
  sequence: string
  tenant_slug: string
  changed?: string[]
  data: object | null
}

const moved: WatchEmit = {
  type: 'application.stage_changed', when: { stage: 'stage_id', 'no"te': 'note' }, data: ['id', 'stage_id'], subject: "'candidate:' || row.person"
}
const watched = { kind: 'application', id: 'id', tenant: 'company' }

async function start (t: Parameters<typeof startPostgresHost>[0]) {
  const host = await startPostgresHost(t)
  const { pool, storage } = host
  await pool.query('create table applications (id bigint primary key, company text, stage_id int, note text, person int, secret text)')
  /** Returns the events since the last call. */
  let position: string | null = null
  async function read (tenant = 'acme'): Promise<Body[]> {
    const page = await storage.feed.list(tenant, { after: position, limit: 200, eventTypes: null })
    position = page?.position ?? null
    return (page?.bodies ?? []).map((body) => JSON.parse(body))
  }
  const missed = async () => (await pool.query('select event_type, problem from recruiting.missed_changes order by id')).rows
  return { ...host, read, missed }
}

t.test('a watched table emits an event for each row with a changed column, also for imports and changes by hand', async (t) => {
  const { pool, storage, read, missed } = await start(t)
  await watch(pool, 'applications', {
    ...watched,
    emit: [moved, { type: 'application.created', on: 'insert', data: "json_build_object('id', row.id, 'by', upper(row.note))", tenantSlug: "'slug-of-' || row.company" }, { type: 'application.deleted', on: 'delete', data: ['id'] }]
  })
  await pool.query("insert into applications values (1, 'acme', 1, 'x', 42), (2, 'acme', 1, null, 43), (3, null, 1, 'y', 44)")
  const created = await read()
  t.strictSame(created.map(({ type, tenant_slug: slug, data }) => [type, slug, data]), [
    ['application.created', 'slug-of-acme', { id: 1, by: 'X' }], ['application.created', 'slug-of-acme', { id: 2, by: null }]
  ])
  const [first] = created
  t.match(first, { id: /^evt_[0-9a-f]{32}$/, sequence: /^\d{16}$/, timestamp: /^\d{4}-.*T.*\.\d{3}Z$/ })
  t.strictSame(Object.keys(first ?? {}), ['id', 'type', 'timestamp', 'sequence', 'tenant_slug', 'data'])

  await pool.query("update applications set stage_id = 2, secret = 'old values are not sent'")
  await pool.query("update applications set secret = 'x'; update applications set stage_id = stage_id")
  await pool.query("update applications set note = 'z', stage_id = 3 where id = 2")
  const changes = await read()
  t.strictSame(changes.map(({ type, tenant_slug: slug, changed, data }) => [type, slug, changed, data]), [
    ['application.stage_changed', 'acme', ['stage'], { id: 1, stage_id: 2 }],
    ['application.stage_changed', 'acme', ['stage'], { id: 2, stage_id: 2 }],
    ['application.stage_changed', 'acme', ['stage', 'no"te'], { id: 2, stage_id: 3 }]
  ])
  t.strictSame(changes.map(({ sequence }) => sequence), changes.map(({ sequence }) => sequence).sort())

  await pool.query('delete from applications where id = 2')
  t.strictSame((await read()).map(({ type, data }) => [type, data]), [['application.deleted', { id: 2 }]])
  await pool.query('begin; update applications set stage_id = 9; rollback')
  t.strictSame(await read(), [], 'a rollback')

  t.strictSame(await storage.deliveries.erase('acme', 'candidate:43'), { events: 2, truncated: false })
  const tombstone = await storage.feed.find('acme', changes[2]?.id ?? '')
  t.strictSame(JSON.parse(tombstone ?? ''), { ...changes[2], data: null, erased: true })
  t.strictSame(await missed(), [])
})

t.test('webhooks that ask for a changed field get these events', async (t) => {
  const { pool, storage } = await start(t)
  await watch(pool, 'applications', { ...watched, emit: moved })
  const webhook = { id: 1, tenantSlug: 'acme', name: 'x', status: 'active', target_url: 'https://x.example/', event_types: [moved.type], secret: 's' } as const
  await storage.webhooks.create('acme', { ...webhook, changed: ['stage'] }, { maxPerTenant: 5 })
  await pool.query("insert into applications values (1, 'acme', 1); update applications set note = 'x'; update applications set stage_id = 2")
  const claimed = await storage.deliveries.claimDue({ limit: 10, perEndpoint: 10, leaseMs: 1000 })
  t.strictSame(claimed.map(({ body }) => JSON.parse(body).changed), [['stage']])
})

t.test('an event that cannot be emitted never fails the write, and is reported until watch gets another emit', async (t) => {
  const { pool, storage, read, missed } = await start(t)
  const emit = { ...moved, data: "json_build_object('id', 10 / row.stage_id)" }
  await watch(pool, 'applications', { ...watched, emit })
  await pool.query("insert into applications values (1, 'acme', 1)")
  const begun = await storage.changes.begin('acme', 'application')
  await pool.query('update applications set stage_id = 0')
  await pool.query('update applications set stage_id = 0, note = 1')
  t.strictSame(await missed(), [{ event_type: moved.type, problem: 'division by zero' }])
  const recruiting = createRecruiting({ storage, delivery: false })
  t.teardown(() => recruiting.close())
  const { changes } = await recruiting.stats()
  t.strictSame(changes?.missed.map(({ since, ...rest }) => [Date.parse(since) > 0, rest]), [
    [true, { kind: 'application', table: 'public.applications', eventType: moved.type, problem: 'division by zero' }]
  ])
  const registry = new Registry()
  collectMetrics(recruiting, registry)
  t.match(await registry.metrics(), 'watched_tables_incomplete{missing="changes"} 0\nwatched_tables_incomplete{missing="events"} 1')
  t.strictSame((await storage.changes.list('acme', 'application', { after: begun, limit: 10 }))?.ids.includes('1'), true, 'changes are still recorded')
  const advise = () => adviseWatch(async (text, values) => (await pool.query(text, values)).rows, 'recruiting')
  t.match(await advise(), [/^public\.applications, .* has not emitted events of application\.stage_changed since .* \(division by zero\)/])
  await t.rejects(watch(pool, 'applications', { ...watched, emit: { ...emit, subject: 'id' } }), { message: 'emit[0]: division by zero' })
  await pool.query('update applications set stage_id = 1')
  await watch(pool, 'applications', { ...watched, emit })
  t.equal((await missed()).length, 1, 'the same emit does not hide it')
  await watch(pool, 'applications', { ...watched, emit: moved })
  t.strictSame([await missed(), await advise(), (await recruiting.stats()).changes?.missed], [[], [], []])
  await pool.query('update applications set stage_id = 5')
  t.strictSame((await read()).map(({ data }) => data), [{ id: 10 }, { id: 1, stage_id: 5 }])
})

t.test('watch rejects an emit that is invalid or that could not work', async (t) => {
  const { pool } = await start(t)
  await pool.query("insert into applications values (1, 'acme', 1)")
  await pool.query('create table loose (id bigint, company text, stage_id int)')
  const cases: Array<[field: string, emit: unknown, table?: string]> = [
    ['emit', 7], ['emit.type', { ...moved, type: 'x' }], ['emit.on', { ...moved, on: 'truncate' }], ['emit.what', { ...moved, what: 1 }],
    ['emit.when', { ...moved, when: [] }], ['emit.when', { type: moved.type, data: ['id'] }], ['emit.when', { ...moved, on: 'insert' }], ['emit.when', { ...moved, when: 'stage_id' }],
    ['emit.data', { ...moved, data: [] }], ['emit[1].type', [moved, { ...moved, type: '' }]], ['emit', Array(11).fill(moved)],
    ['emit[0].when', { ...moved, when: ['stage'] }], ['emit[0].data', { ...moved, data: ['nobody'] }], ['emit[0].subject', { ...moved, subject: 'nobody' }],
    ['emit[0]', { ...moved, data: 'row.nobody' }], ['emit[0]', { ...moved, data: "'text'" }], ['emit[0]', moved, 'loose']
  ]
  for (const [field, emit, table = 'applications'] of cases) {
    await t.rejects(watch(pool, table, { ...watched, emit } as never), { code: 'invalid_option', field }, JSON.stringify(emit))
  }
  t.equal((await pool.query('select from recruiting.events')).rows.length, 0)
})

t.test('watchSql returns the SQL that emits', async (t) => {
  const { pool, read } = await start(t)
  await pool.query(await watchSql(pool, 'applications', { ...watched, emit: moved }))
  await pool.query("insert into applications values (1, 'acme', 1); update applications set stage_id = 2")
  t.strictSame((await read()).map(({ changed }) => changed), [['stage']])
})

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type pg from 'pg'
import { type Random, createRandom } from '../../examples/demo/data/random.js'
import { createRecruiting } from '../../src/index.js'
import { migrate, postgresStorage, watch } from '../../src/storages/postgres/index.js'
import { silentLogger } from '../fixtures/delivery/silent-logger.js'
import { kill, startProcess } from '../fixtures/crash/crash.js'
import { startPostgresServer } from '../fixtures/postgres/postgres-server.js'
import { pickSeed } from '../sync/proof/seed.js'
import { keyOf, proofTenants } from '../sync/proof/world.js'

const events = Number(process.env.EVENTS ?? 200_000)
const kills = 10
const writers = 16
const readers = 6
const loaders = 4
const subjects = 100
const types = ['job.created', 'application.created', 'candidate.created'] as const

interface FeedPage {
  data: Array<{ id: string, type: string, data: { subject: number, state: number } }>
  meta: { next_token: string, has_more: boolean }
}

t.setTimeout(0)

t.test(`${events} events, while API and PostgreSQL are killed: each reader gets every committed event once, and each subject's in order; loads continue without a gap`, { timeout: 3_600_000 }, async (t) => {
  const postgres = await startPostgresServer(t, { settings: ['fsync=on', 'synchronous_commit=on'] })
  const pool = postgres.createPool({ max: 30 })
  await migrate(pool)
  await pool.query('create table api_jobs (tenant_slug text, id bigint, name text, status text, version bigint, created_at timestamptz, updated_at timestamptz)')
  await pool.query(`create table subjects (id int primary key, state int not null);
    insert into subjects select n, 0 from generate_series(1, ${subjects}) as n;
    create view api_candidates as select ${tenantInSql} as tenant_slug, id::bigint, 'x' as full_name, null::text as headline, null::bigint as source_id,
      null::bigint as recruiter_id, state as version, now() as created_at, now() as updated_at from subjects as row`)
  await watch(pool, 'subjects', { kind: 'candidate', id: 'id', tenant: tenantInSql })
  const recruiting = createRecruiting({ storage: postgresStorage(pool), delivery: false, logger: silentLogger })
  t.teardown(() => recruiting.close())
  const seed = pickSeed(t)
  let emitted = 0
  let isOver = false
  let calm: Promise<unknown> | null = null

  async function serve (port: number) {
    const child = startProcess(t, 'crash-api', postgres.url, String(port))
    const [output] = await once(child.stdout, 'data')
    return { port: Number(String(output)), kill: () => kill(child) }
  }

  /** Changes some subjects and emits their states in one transaction, which may take long or be rolled back. */
  async function write (random: Random): Promise<void> {
    const client = await pool.connect()
    try {
      await client.query('begin')
      // In id order, so that writers do not deadlock.
      const chosen = new Set(Array.from({ length: random.integer(1, 4) }, () => random.integer(1, subjects)))
      for (const subject of [...chosen].toSorted((one, other) => one - other)) {
        const isUndone = random.chance(0.1)
        if (isUndone) await client.query('savepoint undone')
        const { rows: [row] } = await client.query('update subjects set state = state + 1 where id = $1 returning state', [subject])
        // Others commit later changes with earlier events.
        if (random.chance(0.02)) await sleep(random.integer(1, 50))
        const data = { subject, state: Number(row.state) }
        const event = { tenantSlug: tenantOf(subject), type: random.pick(types), data }
        await recruiting.emit(event, { transaction: client })
        if (isUndone) await client.query('rollback to undone')
        if (random.chance(0.02)) await sleep(random.integer(1, 200))
        emitted++
      }
      await client.query(random.chance(0.1) ? 'rollback' : 'commit')
      client.release()
    } catch (error) {
      client.release(true)
      throw error
    }
  }

  let server = await serve(0)
  const { port } = server
  const copies = Array.from({ length: readers }, (_, index) => createReader(port, index, createRandom(seed + index)))
  const loads = Array.from({ length: loaders }, (_, index) =>
    createLoader(port, index, createRandom(seed + 200 + index)))
  const writing = Promise.all(Array.from({ length: writers }, async (_, index) => {
    const random = createRandom(seed + 100 + index)
    while (emitted < events) {
      await calm
      await outlive(() => write(random))
    }
  })).finally(() => { isOver = true })
  const reading = [...copies.map(({ follow }) => follow), ...loads.map(({ load }) => load)].map(async (turn) => {
    while (!isOver) {
      await outlive(turn)
      await sleep(50)
    }
  })
  // Writers pause now and then, so that some loads end at a quiet moment.
  const pausing = (async () => {
    while (!isOver) {
      await sleep(1500)
      calm = sleep(500)
      await calm
    }
  })()
  for (let killed = 0; killed < kills && !isOver;) {
    await sleep(100)
    if (emitted < (killed + 0.5) * events / kills) continue
    killed++
    await server.kill()
    await postgres.stop('immediate')
    await postgres.start()
    server = await serve(port)
  }
  await Promise.all([writing, pausing, ...reading])

  for (const { follow, seen, olderStates, tenantSlug, type } of copies) {
    await follow()
    const stored = await readStored(pool, tenantSlug, type)
    const missed = stored.filter((id) => !seen.has(id))
    const twice = [...seen.values()].filter((count) => count > 1)
    const unknown = seen.size - stored.length + missed.length
    t.strictSame({ missed: missed.length, twice: twice.length, unknown, olderStates: olderStates() },
      { missed: 0, twice: 0, unknown: 0, olderStates: 0 },
      `${tenantSlug}, ${type ?? 'all types'}: ${stored.length} events`)
  }
  for (const { load, result } of loads) {
    await load()
    const { gaps, overlaps, exact, busy } = result()
    t.comment(`${exact} loads ended at a quiet moment, ${busy} among writes`)
    t.strictSame({ gaps, overlaps }, { gaps: 0, overlaps: 0 })
    t.ok(exact > 0 && busy > 0)
  }
})

const tenantInSql = `case when row.id % 2 = 0 then '${proofTenants[0]}' else '${proofTenants[1]}' end`

/**
 * Loads a tenant's subjects, then reads the events that follow, again and again. Each event of a subject increases its
 * state by one, so the first one after a load shows whether some are missing, or already in the copy.
 */
function createLoader (port: number, index: number, random: Random) {
  const tenantSlug = proofTenants[index % 2] ?? 'acme'
  const counts = { gaps: 0, overlaps: 0, exact: 0, busy: 0 }

  async function read<Page> (path: string, token: string | undefined): Promise<Page> {
    const query = new URLSearchParams({ per_page: String(random.pick([7, 50, 200])) })
    if (token !== undefined) query.set('token', token)
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/public/${tenantSlug}/${path}?${query}`, { headers: { authorization: `Bearer ${keyOf(tenantSlug)}` } })
    if (answer.status >= 500) throw new Error('terminated')
    if (answer.status !== 200) throw new Error(`${path} got ${answer.status}`)
    return await answer.json() as Page
  }

  async function load (): Promise<void> {
    const copy = new Map<number, number>()
    let token: string | undefined
    let page: { data: Array<{ id: number, candidate: { version: number } }>, meta: FeedPage['meta'] & { events_token?: string } }
    let tries = 0
    do {
      page = await read('candidates/sync', token)
      for (const { id, candidate } of page.data) copy.set(id, candidate.version)
      token = page.meta.next_token
      // The last token of a load contains how often its end was tried.
      if (page.meta.has_more) tries = Number(JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())[3])
    } while (page.meta.has_more)
    const isExact = tries < 10
    const first = new Map<number, number>()
    let next = page.meta.events_token
    for (let hasMore = true; hasMore;) {
      const { data, meta } = await read<FeedPage>('events', next)
      for (const { data: { subject, state } } of data) if (!first.has(subject)) first.set(subject, state)
      hasMore = meta.has_more
      next = meta.next_token
    }
    for (const [subject, state] of first) {
      const known = copy.get(subject) ?? 0
      if (state > known + 1) counts.gaps++
      if (isExact && state <= known) counts.overlaps++
    }
    counts[isExact ? 'exact' : 'busy']++
  }
  return { load, result: () => counts }
}

/** Returns a subject's tenant. */
function tenantOf (subject: number): string {
  return proofTenants[subject % 2] ?? 'acme'
}

/**
 * Follows a tenant's feed. Counts how often it gets each event, and how many arrive after a newer state of their
 * subject. Stores the token of each received page.
 */
function createReader (port: number, index: number, random: Random) {
  const tenantSlug = proofTenants[index % 2] ?? 'acme'
  const type = index < 4 ? undefined : types[0]
  const seen = new Map<string, number>()
  const states = new Map<number, number>()
  let older = 0
  let token: string | undefined

  async function follow (): Promise<void> {
    const query = new URLSearchParams({ per_page: String(random.pick([1, 7, 50, 200])) })
    if (token !== undefined) query.set('token', token)
    if (type !== undefined) query.set('filter[event_type]', type)
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/public/${tenantSlug}/events?${query}`, { headers: { authorization: `Bearer ${keyOf(tenantSlug)}` } })
    if (answer.status >= 500) throw new Error('terminated')
    if (answer.status !== 200) throw new Error(`the feed got ${answer.status}`)
    const { data, meta } = await answer.json() as FeedPage
    for (const { id, data: { subject, state } } of data) {
      seen.set(id, (seen.get(id) ?? 0) + 1)
      if (state < (states.get(subject) ?? 0)) older++
      states.set(subject, Math.max(state, states.get(subject) ?? 0))
    }
    token = meta.next_token
    if (meta.has_more) await follow()
  }
  return { tenantSlug, type, seen, olderStates: () => older, follow }
}

async function readStored (pool: pg.Pool, tenantSlug: string, type: string | undefined): Promise<string[]> {
  const { rows } = await pool.query('select id from recruiting.events where tenant_key = $1 and ($2::text is null or type = $2)', [tenantSlug, type])
  return rows.map(({ id }) => id)
}

/** Errors of a killed server or database end a turn; others are thrown. */
async function outlive (turn: () => Promise<void>): Promise<void> {
  try {
    await turn()
  } catch (error) {
    const { code = '', message = '' } = error as { code?: string, message?: string }
    if (!/^57P|terminat|ECONN|EPIPE|timeout|connection|fetch failed|other side closed/i.test(`${code} ${message}`)) throw error
    await sleep(50)
  }
}

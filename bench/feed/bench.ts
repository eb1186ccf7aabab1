import Fastify from 'fastify'
import type pg from 'pg'
import recruitingApi, { createRecruiting } from 'fastify-recruiting-api'
import { memoryKeyLookup } from 'fastify-recruiting-api/memory'
import { migrate, postgresStorage } from 'fastify-recruiting-api/postgres'
import { createEventData } from '../deliver/work.js'
import { startDatabase } from '../harness/database.js'
import { printFigure, quantile, time } from '../harness/fill.js'

/*
 * The cost of the event feed: an emit, compared with one without the feed's lock and index; and pages of 200 of
 * 1,000,000 events, compared with a page of sync. Each ratio compares alternating measurements in this run.
 */
const rounds = 60
const perRound = 200
const pageRounds = 40
const logged = 1_000_000
const type = 'application.created'
const key = 'bench-key'

const database = await startDatabase()
const { pool } = database
for (const schema of ['feed', 'bare']) await migrate(pool, { schema })
await measureEmits()
await measurePages()
await database.close()

async function measureEmits (): Promise<void> {
  await pool.query(`drop index bare.events_feed;
    create or replace function bare.start_recording_v1 (p_sequence regclass) returns void language plpgsql as 'begin end'`)
  const [ours, theirs] = await Promise.all(['feed', 'bare'].map(async (schema) => {
    const storage = postgresStorage(pool, { schema })
    await storage.webhooks.create(
      'acme',
      {
        id: await storage.webhooks.nextId('acme'),
        tenantSlug: 'acme',
        name: 'CRM',
        status: 'active',
        target_url: 'https://example.com/',
        event_types: [type],
        secret: 'x'
      },
      { maxPerTenant: 1 }
    )
    return createRecruiting({ storage, delivery: false })
  }))
  const data = createEventData(1)
  const client = await pool.connect()
  const measure = async (recruiting: typeof ours): Promise<number> => {
    const times: number[] = []
    for (let count = 0; count < perRound; count++) {
      await client.query('begin')
      times.push(await time(async () => recruiting?.emit({ tenantSlug: 'acme', type, data }, { transaction: client })))
      await client.query('commit')
    }
    return quantile(times)
  }
  const ratios: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const [first, second] = round % 2 === 0 ? [ours, theirs] : [theirs, ours]
    const ms = [await measure(first), await measure(second)]
    const [ourMs = NaN, theirMs = NaN] = round % 2 === 0 ? ms : ms.reverse()
    ratios.push(ourMs / theirMs)
  }
  client.release()
  console.log(`\nfeed: an emit to one endpoint, within an open transaction (medians of ${rounds} rounds)`)
  printFigure('with the feed, over without', quantile(ratios.slice(1)), 1.03, 'times')
  for (const recruiting of [ours, theirs]) await recruiting?.close()
}

async function measurePages (): Promise<void> {
  await fill(pool)
  const app = Fastify()
  const storage = postgresStorage(pool, {
    schema: 'feed',
    candidates: 'public.people',
    jobs: 'public.positions',
    changes: 'manual'
  })
  await app.register(recruitingApi, {
    storage,
    keyLookup: memoryKeyLookup([{ key, tenantSlug: 'big', scopes: ['candidates:read', 'webhooks:read'] }]),
    delivery: false
  })
  const read = async (path: string): Promise<{ meta: { next_token: string } }> => {
    const { statusCode, body } = await app.inject({
      url: `/api/v1/public/big/${path}`,
      headers: { authorization: `Bearer ${key}` }
    })
    if (statusCode !== 200) throw new Error(`${path} got ${statusCode}`)
    return JSON.parse(body)
  }
  const tokens: string[] = []
  for (let page = 0, token = ''; page < logged / 200; page++) {
    token = (await read(`events?per_page=200${token === '' ? '' : `&token=${token}`}`)).meta.next_token
    tokens.push(token)
  }
  const at = (share: number): string => `events?per_page=200&token=${tokens[Math.floor((tokens.length - 3) * share)]}`
  const pages = {
    first: 'events?per_page=200',
    middle: at(0.5),
    last: at(1),
    rare: 'events?per_page=200&filter[event_type]=job.closed',
    sync: 'candidates/sync?per_page=200'
  }
  const median = async (path: string): Promise<number> => {
    const times: number[] = []
    for (let count = 0; count < 10; count++) times.push(await time(() => read(path)))
    return quantile(times)
  }
  const measured = new Map<string, number[]>(Object.keys(pages).map((name) => [name, []]))
  for (let round = 0; round < pageRounds; round++) {
    for (const [name, path] of Object.entries(pages)) measured.get(name)?.push(await median(path))
  }
  const over = (name: string, other: string): number =>
    quantile((measured.get(name) ?? []).map((ms, round) => ms / (measured.get(other)?.[round] ?? NaN)))
  console.log(`\nfeed: pages of 200 of ${logged.toLocaleString('en')} events (medians of ${pageRounds} rounds)`)
  printFigure('the first page', quantile(measured.get('first') ?? []), null)
  printFigure('the middle page, over the first', over('middle', 'first'), 2, 'times')
  printFigure('the last page, over the first', over('last', 'first'), 2, 'times')
  printFigure('the first page, over a page of sync', over('first', 'sync'), 1.5, 'times')
  printFigure('a page of a type without events, over the first', over('rare', 'first'), null, 'times')
  await app.close()
}

async function fill (pool: pg.Pool): Promise<void> {
  const body = JSON.stringify({
    id: 'evt_0',
    type,
    timestamp: '2026-01-01T00:00:00.000Z',
    tenant_slug: 'big',
    data: createEventData(1)
  })
  await pool.query(
    `
    insert into feed.events (id, tenant_key, type, body, fingerprint, recorded_at)
    select 'evt_' || n, case when n % 2 = 0 then 'big' else 'other_' || n % 100 end, $1, $2, '', now() from generate_series(1, $3::int) as n`,
    [type, body, 2 * logged]
  )
  await pool.query(`
    create table people (tenant_slug text collate "C", id bigint, full_name text, headline text, source_id bigint, recruiter_id bigint, created_at timestamptz, updated_at timestamptz, primary key (tenant_slug, id));
    create table positions (tenant_slug text collate "C", id bigint, name text, status text, created_at timestamptz, updated_at timestamptz, primary key (tenant_slug, id));
    insert into people select 'big', n, 'Chloé Hernández', 'Senior backend engineer', 17, 9, now(), now() from generate_series(1, 100000) as n`)
  await pool.query('vacuum analyze')
}

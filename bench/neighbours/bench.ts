import { Agent, request } from 'node:http'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { migrate } from 'fastify-recruiting-api/postgres'
import { startDatabase } from '../harness/database.js'
import { quantile } from '../harness/fill.js'
import { startHelper } from '../harness/helper.js'
import { startReceivers } from './receivers.js'
import { fieldNames, loud, quiet } from './tenants.js'

/*
 * What one tenant makes the others wait: for each shared resource, the 95th percentile of another tenant's requests or
 * deliveries without and with the pressure, in turns. The goal is at most twice, plus 20 ms.
 */
const rounds = 2
const quietMs = 3000
const pressedMs = 6000
const everyMs = 100

interface Row {
  name: string
  what: string
  /** Prepares the data. */
  prepare? (): Promise<void>
  /** Called before and after each round. */
  begin? (): Promise<void>
  end? (): Promise<void>
  /** Called this many times a second; not awaited. */
  perSecond: number
  press (index: number): Promise<unknown>
  /** One measured operation of the other tenant, in milliseconds; `null` if the receiver measures it. */
  probe (): Promise<number | null>
  /** Called after the last round. */
  settle? (): Promise<void>
}

const database = await startDatabase()
const { pool, url } = database
const receivers = await startReceivers()
await migrate(pool)
await createTables(pool)
const server = await startHelper(new URL('server.js', import.meta.url), url)
const port = await server.ask<number>('port')
const keys = await server.ask<Record<string, string>>('keys')
const loudKey = String(keys[loud])
const quietKey = String(keys[quiet])
const failures: string[] = []
let limitedKeys: string[] = []
let limitedKey = ''

const agent = new Agent({ keepAlive: true, maxSockets: 2000 })

/** Sends a request and returns its status, its body and its duration. */
function send (
  method: string, path: string, { key = '', body, headers = {} }: { key?: string, body?: object, headers?: object } = {}
): Promise<{ status: number, text: string, ms: number }> {
  const startedAt = performance.now()
  return new Promise((resolve, reject) => {
    const payload = body === undefined ? undefined : JSON.stringify(body)
    const sent = request({
      host: '127.0.0.1',
      port,
      method,
      path,
      agent,
      headers: {
        ...key === '' ? {} : { authorization: `Bearer ${key}` },
        ...payload === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) },
        ...headers
      }
    }, async (response) => {
      let text = ''
      for await (const chunk of response.setEncoding('utf8')) text += chunk
      resolve({ status: response.statusCode ?? 0, text, ms: performance.now() - startedAt })
    })
    sent.on('error', reject)
    sent.end(payload)
  })
}

const ofLoud = (method: string, path: string, options: object = {}) =>
  send(method, `/api/v1/public/${loud}${path}`, { key: loudKey, ...options })

/** Measures a request of the other tenant, and counts it as failed unless it succeeds. */
async function measure (method: string, path: string, options: object = {}): Promise<number> {
  const { status, text, ms } = await send(method, `/api/v1/public/${quiet}${path}`, { key: quietKey, ...options })
  if (status >= 300) failures.push(`${status} ${text.slice(0, 200)}`)
  return ms
}

const readPage = () => measure('GET', '/candidates')

async function emit (tenant: string): Promise<null> {
  await send('POST', `/emit/${tenant}`, { body: { type: 'note.added' } })
  return null
}

async function createWebhook (tenant: string, path: string, host = '127.0.0.1'): Promise<number> {
  const key = tenant === loud ? loudKey : quietKey
  const { status, text } = await send('POST', `/api/v1/public/${tenant}/webhooks`, {
    key,
    body: { name: path, target_url: `http://${host}:${receivers.port}/${path}`, event_types: ['note.added'] }
  })
  if (status !== 201) throw new Error(text)
  return JSON.parse(text).data.id
}

/** The server's own statements may cause a deadlock. */
async function retryUntilDone (text: string): Promise<void> {
  for (let isDone = false; !isDone;) isDone = await pool.query(text).then(() => true, () => false)
}

/** Deletes all webhooks, which ends their deliveries. */
async function deleteWebhooks (): Promise<void> {
  await retryUntilDone(`
    truncate recruiting.webhooks, recruiting.webhook_health, recruiting.notices, recruiting.queue, recruiting.deliveries`)
  for (let turn = 0; turn < 10; turn++) {
    receivers.release()
    await sleep(100)
  }
}

/** A tenant's webhooks of this kind, and events that are sent to them. */
function deliveries (name: string, endpoint: string, count: number, perSecond: number): Row {
  return {
    name,
    what: `${count} endpoints, ${endpoint}`,
    async begin () {
      await createWebhook(quiet, 'quick')
      for (let index = 0; index < count; index++) await createWebhook(loud, endpoint)
    },
    perSecond,
    press: () => emit(loud),
    probe: () => emit(quiet),
    end: deleteWebhooks
  }
}

/** 3,000 webhooks of one tenant, all due every two seconds. `address` is the SQL of each one's host. */
function manyWebhooks (name: string, what: string, address: string): Row {
  return {
    name,
    what,
    async prepare () {
      await deleteWebhooks()
      await createWebhook(quiet, 'quick')
      await createWebhook(loud, 'other')
      await pool.query(`
        insert into recruiting.webhooks (id, tenant, tenant_slug, name, status, target_url, event_types, secret, created_at, updated_at)
        select nextval('recruiting.webhook_ids'), tenant, tenant_slug, name, status,
          'http://' || ${address} || ':' || $2 || '/other', array['note.many'], secret, now(), now()
        from recruiting.webhooks, generate_series(1, 3000) as n where tenant = $1 and name = 'other'`, [loud, receivers.port])
    },
    perSecond: 0.5,
    press: () => send('POST', `/emit/${loud}`, { body: { type: 'note.many' } }),
    probe: () => emit(quiet),
    async end () {
      const { rows: [left] } = await pool.query('select count(*)::int as count from recruiting.queue')
      console.log(`    ${left?.count} deliveries wait, ${await server.ask<number>('descriptors')} open descriptors`)
      await retryUntilDone('truncate recruiting.queue')
      await sleep(1000)
    }
  }
}

let hasPeople = false

/** Adds 1,000,000 candidates of one tenant. */
async function addPeople (): Promise<void> {
  if (hasPeople) return
  hasPeople = true
  await pool.query(`
    insert into people (company, nr, name) select $1, n + 1000, 'Name ' || n from generate_series(1, 1000000) as n`, [loud])
  await pool.query('vacuum analyze people')
}

let logWebhook = 0
let replayWebhook = 0
let testWebhook = 0
let testWebhooks: number[] = []

const rows: Row[] = [
  deliveries('delivery-slow', 'slow', 20, 10),
  deliveries('delivery-silent', 'silent', 50, 10),
  deliveries('delivery-endless', 'endless', 50, 10),
  {
    name: 'history',
    what: 'dry runs over 50,000 events',
    async prepare () {
      replayWebhook = await createWebhook(loud, 'other')
      logWebhook = await createWebhook(quiet, 'other')
      await pool.query(`
        insert into recruiting.events (id, tenant_key, type, body, fingerprint, recorded_at)
        select 'evt_' || n, coalesce((select key from recruiting.tenants where tenant = $1), $1), 'note.added',
          '{"id":"evt_' || n || '","type":"note.added","data":{"text":"' || repeat('x', 500) || '"}}', '', now()
        from generate_series(1, 50000) as n`, [loud])
      await pool.query('vacuum analyze recruiting.events')
    },
    perSecond: 10,
    press: () => ofLoud('POST', `/webhooks/${replayWebhook}/replay`, { body: { dry_run: true, include: 'undelivered' } }),
    probe: () => measure('POST', `/webhooks/${logWebhook}/replay`, { body: { dry_run: true } }),
    async settle () {
      await sleep(1000)
    }
  },
  {
    name: 'connections',
    what: '16 searches a second over 1,000,000 candidates',
    prepare: addPeople,
    perSecond: 16,
    press: (index) => ofLoud('GET', `/candidates?filter[q]=nobody${index}`),
    probe: readPage,
    async settle () {
      await sleep(3000)
    }
  },
  {
    name: 'totals',
    what: '40 pages a second with the exact total of 1,000,000 candidates',
    prepare: addPeople,
    perSecond: 40,
    press: (index) => ofLoud('GET', `/candidates?page=${index + 1}`),
    probe: readPage,
    async settle () {
      await sleep(3000)
    }
  },
  {
    name: 'keys',
    what: '15 new keys a second beside 200,000 revoked ones',
    async prepare () {
      await pool.query(`
        insert into recruiting.api_keys (id, digest, tenant, tenant_slug, name, scopes, start, created_at, revoked_at)
        select 'key_old_' || n, md5('k' || n) || md5('l' || n), $1, $1, 'old', array['jobs:read'], 'abcd',
          now() - interval '10 days', now() - interval '9 days'
        from generate_series(1, 200000) as n`, [loud])
      await pool.query('vacuum analyze recruiting.api_keys')
    },
    perSecond: 15,
    press: () => ofLoud('POST', '/api_keys', { body: { name: 'new', scopes: ['jobs:read'], expires_in_days: 1 } }),
    probe: readPage
  },
  {
    name: 'numbers',
    what: 'a jsonb field with a number of 120,000 digits',
    async prepare () {
      await pool.query(`
        insert into people (company, nr, name, extra) values ($1, 1, 'Ada', ('{"n": 1' || repeat('0', 119998) || '1}')::jsonb)
        on conflict do nothing`, [loud])
    },
    perSecond: 5,
    press: () => ofLoud('GET', '/candidates/1'),
    probe: readPage
  },
  {
    name: 'mcp',
    what: '16 calls a second of list_events, 40 events of 95 KB',
    async prepare () {
      await pool.query(`
        insert into recruiting.events (id, tenant_key, type, body, fingerprint, recorded_at)
        select 'evt_big_' || n, coalesce((select key from recruiting.tenants where tenant = $1), $1), 'note.added',
          json_build_object('id', 'evt_big_' || n, 'type', 'note.added', 'timestamp', '2026-01-01T00:00:00.000Z',
            'tenant_slug', $1::text, 'data', json_build_object('lines', (select json_agg(repeat('line ', 19)) from generate_series(1, 950))))::text,
          '', now() + interval '1 second'
        from generate_series(1, 40) as n`, [loud])
    },
    perSecond: 16,
    press: () => ofLoud('POST', '/mcp', {
      headers: { accept: 'application/json, text/event-stream' },
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'list_events', arguments: { per_page: 40, since: new Date(Date.now() - 3_600_000).toISOString() } }
      }
    }),
    probe: readPage
  },
  {
    name: 'fields',
    what: '110 keys with different lists of fields',
    async prepare () {
      const lists = Array.from({ length: 110 }, (_, index) =>
        fieldNames.filter((_name, bit) => (index + 1) >> bit & 1))
      limitedKeys = await server.ask('limitedKeys', lists)
      limitedKey = await server.ask('limitedKey', ['full_name', 'city', 'team'])
    },
    perSecond: 40,
    press: (index) => ofLoud('GET', '/candidates/1', { key: limitedKeys[index % limitedKeys.length] }),
    probe: () => measure('GET', '/candidates', { key: limitedKey })
  },
  {
    name: 'tests',
    what: '10 tests a second to 13 endpoints that never answer',
    async prepare () {
      testWebhook = await createWebhook(quiet, 'quick')
      for (let index = 0; index < 13; index++) testWebhooks.push(await createWebhook(loud, 'silent'))
    },
    perSecond: 10,
    press: (index) => ofLoud('POST', `/webhooks/${testWebhooks[index % testWebhooks.length]}/dispatch_test`, { body: {} }),
    probe: () => measure('POST', `/webhooks/${testWebhook}/dispatch_test`, { body: {} }),
    async settle () {
      await deleteWebhooks()
      testWebhooks = []
    }
  },
  {
    name: 'budgets',
    what: '15 rotations a second by a key that manages keys',
    perSecond: 15,
    async press () {
      const created = await ofLoud('POST', '/api_keys', { body: { name: 'new', scopes: ['jobs:read'], expires_in_days: 1 } })
      if (created.status === 201) await ofLoud('POST', `/api_keys/${JSON.parse(created.text).data.id}/rotate`, { body: {} })
    },
    probe: readPage
  },
  manyWebhooks('sockets', '3,000 origins', "'127.1.' || n / 250 || '.' || n % 250 + 1"),
  manyWebhooks('one-origin', 'the same deliveries to one origin', "'127.0.0.1'"),
  {
    name: 'requests',
    what: '50 requests a second that get 404, each with a new Idempotency-Key',
    perSecond: 50,
    press: () => ofLoud('POST', '/webhooks/999999/replay', { body: {}, headers: { 'idempotency-key': randomUUID() } }),
    probe: readPage,
    async settle () {
      const { rows: [stored] } = await pool.query('select count(*)::int as count from recruiting.requests')
      console.log(`    ${stored?.count} stored answers`)
    }
  }
]

/** Calls the probe and, with pressure, the press at their rates. Returns the other tenant's delays in milliseconds. */
async function run (row: Row, durationMs: number, isPressed: boolean): Promise<number[]> {
  receivers.delays.length = 0
  const times: number[] = []
  const probes: Array<Promise<unknown>> = []
  const presses: Array<Promise<unknown>> = []
  const startedAt = performance.now()
  const timer = isPressed
    ? setInterval(() => { presses.push(row.press(presses.length).catch(() => {})) }, 1000 / row.perSecond)
    : undefined
  // The pressure needs some time to build up.
  if (isPressed) await sleep(durationMs / 3)
  while (performance.now() - startedAt < durationMs) {
    probes.push(row.probe().then(
      (ms) => { if (ms !== null) times.push(ms) },
      (error) => { failures.push(String(error)) }
    ))
    await sleep(everyMs)
  }
  clearInterval(timer)
  await Promise.all(probes)
  if (times.length > 0) return times
  // Deliveries may be late.
  for (let waited = 0; receivers.delays.length < probes.length && waited < 100; waited++) await sleep(100)
  const missing = probes.length - receivers.delays.length
  return [...receivers.delays, ...Array.from({ length: Math.max(0, missing) }, () => Number.POSITIVE_INFINITY)]
}

const asked = process.argv.slice(2)
const unknown = asked.find((name) => !rows.some((row) => row.name === name))
if (unknown !== undefined) {
  throw new Error(`unknown row ${unknown}, expected ${rows.map(({ name }) => name).join(', ')}`)
}
console.log('\np95 of another tenant in ms; the goal is at most twice, plus 20 ms')
console.log(`  ${'row'.padEnd(17)} ${'alone'.padStart(8)} ${'pressed'.padStart(9)} ${'failed'.padStart(7)}  goal`)
for (const row of rows.filter(({ name }) => asked.length === 0 || asked.includes(name))) {
  await row.prepare?.()
  failures.length = 0
  const alone: number[] = []
  const pressed: number[] = []
  for (let round = 0; round < rounds; round++) {
    await row.begin?.()
    alone.push(...await run(row, quietMs, false))
    pressed.push(...await run(row, pressedMs, true))
    await row.end?.()
    await sleep(500)
  }
  printRow(row, quantile(alone, 0.95), quantile(pressed, 0.95))
  await row.settle?.()
}

agent.destroy()
receivers.close()
await server.stop()
await database.close()

function printRow ({ name, what }: Row, alone: number, pressed: number): void {
  const goal = pressed <= 2 * alone + 20 && failures.length === 0 ? 'met   ' : 'MISSED'
  const figures = `${alone.toFixed(1).padStart(8)} ${pressed.toFixed(1).padStart(9)} ${String(failures.length).padStart(7)}`
  console.log(`  ${name.padEnd(17)} ${figures}  ${goal} ${what}`)
  if (failures.length > 0) console.log(`    ${failures[0]}`)
}

async function createTables (pool: pg.Pool): Promise<void> {
  await pool.query(`
    create table people (
      company text not null, nr bigint not null, name text not null, extra jsonb,
      created_at timestamptz not null default now(), changed_at timestamptz not null default now(),
      name_key text collate "C" generated always as (lower(name collate "und-x-icu")) stored
    );
    create unique index on people (company, nr) include (name_key);
    create index on people (company, changed_at, nr);
    create index on people (company, name collate "C", nr);
    create view api_candidates as
      select company as tenant_slug, nr as id, name as full_name, null::text as headline, null::bigint as source_id,
        null::bigint as recruiter_id, created_at, changed_at as updated_at, name_key, extra,
        ${fieldNames.map((name) => `'${name}'::text as ${name}`).join(', ')}
      from people;
    insert into people (company, nr, name) select '${quiet}', n, 'Name ' || n from generate_series(1, 1000) as n;
    insert into people (company, nr, name) select '${loud}', n + 1, 'Name ' || n from generate_series(1, 100) as n;
    create table api_jobs (tenant_slug text, id bigint, name text, status text, created_at timestamptz, updated_at timestamptz)`)
}

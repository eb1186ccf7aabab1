import type pg from 'pg'
import { createRecruiting } from 'fastify-recruiting-api'
import { migrate, postgresStorage, watch } from 'fastify-recruiting-api/postgres'
import { startDatabase } from '../harness/database.js'
import { printFigure, quantile, time } from '../harness/fill.js'
import { startHelper } from '../harness/helper.js'
import { type Target, loadServer } from '../harness/load.js'
import { keyOf } from '../pages/keys.js'
import { bigTenant, createCandidateIndexes, createCandidateTable, createCandidates } from '../pages/tables.js'

/*
 * What recording a change adds to the host's transaction, against inserting one more candidate there; and the cost of reading
 * everything by sync, against pages. Each ratio is of two things measured in turns within this run.
 */
const rounds = 40
const perRound = 200
const perPage = 200
const loadMs = 2000
const loadRounds = 8

const database = await startDatabase()
const { pool } = database
await migrate(pool)
await measureWrites()
await createCandidates(pool)
await measureReads()
await database.close()

async function measureWrites (): Promise<void> {
  for (const table of ['bare', 'watched']) {
    await createCandidateTable(pool, table)
    await createCandidateIndexes(pool, table)
  }
  await watch(pool, 'watched', { kind: 'candidate', id: 'id', tenant: 'tenant_slug' })
  // As in a table that has been in use, whose size PostgreSQL knows.
  await pool.query("select recruiting.changed('acme', 'candidate', n::text) from generate_series(1, 20000) as n")
  await pool.query('vacuum analyze recruiting.recent_changes')
  const recruiting = createRecruiting({ storage: postgresStorage(pool), delivery: false })
  let id = 0
  const insertInto = (table: string) => (client: pg.PoolClient) => client.query(`
    insert into ${table} (tenant_slug, id, full_name, headline, source_id, recruiter_id, created_at, updated_at)
    values ($1, $2, $3, $4, $5, $6, now(), now())`, ['acme', ++id, 'Chloé Hernández', 'Senior backend engineer', 17, 9])
  const insert = insertInto('bare')
  const changed = (client: pg.PoolClient) =>
    recruiting.changed({ tenantSlug: 'acme', kind: 'candidate', id: ++id }, { transaction: client })

  for (const atOnce of [1, 10]) {
    const clients = await Promise.all(Array.from({ length: atOnce }, () => pool.connect()))
    const times = (call: Statement) => measure(clients, insert, call)
    console.log(`\nsync: writing, ${atOnce} at once, within open transactions (medians of ${rounds} rounds)`)
    printFigure('changed, over an insert of a candidate', await compare(times, changed, insert), 1, 'times')
    printFigure('an insert into a watched table, over one into a table that is not watched', await compare(times, insertInto('watched'), insert), 1.5, 'times')
    for (const client of clients) client.release()
  }
  await recruiting.close()
}

type Statement = (client: pg.PoolClient) => Promise<unknown>

/** The median of the ratios of the two medians of each round. */
async function compare (times: (call: Statement) => Promise<number>, ours: Statement, theirs: Statement): Promise<number> {
  const ratios: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const ourMs = await times(ours)
    ratios.push(ourMs / await times(theirs))
  }
  // The first round warms up.
  return quantile(ratios.slice(1))
}

/** The median time of one call in milliseconds, in a transaction that has written a row before. */
async function measure (clients: readonly pg.PoolClient[], prepare: Statement, call: Statement): Promise<number> {
  const times: number[] = []
  await Promise.all(clients.map(async (client) => {
    for (let count = 0; count < perRound / clients.length; count++) {
      await client.query('begin')
      await prepare(client)
      times.push(await time(() => call(client)))
      await client.query('commit')
    }
  }))
  return quantile(times)
}

async function measureReads (): Promise<void> {
  const server = await startHelper(new URL('../pages/server.js', import.meta.url), 'ours', database.url, '0')
  const port = await server.ask<number>('port')
  const { rowsPerSecond, lastToken } = await readEverything(port)
  const first = targetOf(port, `sync?per_page=${perPage}`)
  const last = targetOf(port, `sync?per_page=${perPage}&token=${lastToken}`)
  const middle = targetOf(port, `?per_page=${perPage}&page=2500`)
  const rate = async (target: Target, connections: number) => {
    const load = await loadServer(target, { connections, durationMs: loadMs })
    return load.requests / load.durationMs * 1000
  }
  for (const target of [first, last]) await rate(target, 1)

  const costs: number[] = []
  const gains: number[] = []
  for (let round = 0; round < loadRounds; round++) {
    costs.push(await rate(first, 1) / await rate(last, 1))
    gains.push(await rate(last, 1) / await rate(middle, 1))
  }
  console.log(`\nsync: reading 1,000,000 candidates over HTTP, one request at a time (medians of ${loadRounds} rounds)`)
  printFigure('the last page, over the first', quantile(costs), 1.2, 'times the cost')
  printFigure('sync, over pages of 200 at the middle', quantile(gains), 50, 'times the rows a second')
  printFigure('the whole first pass', rowsPerSecond, null, 'rows a second')
  await server.stop()
}

/** Follows the loop of the documentation once. */
async function readEverything (port: number): Promise<{ rowsPerSecond: number, lastToken: string }> {
  const startedAt = performance.now()
  let rows = 0
  let lastToken = ''
  for (let token: string | null = null, hasMore = true; hasMore;) {
    const { path, headers } = targetOf(port, `sync?per_page=${perPage}${token === null ? '' : `&token=${token}`}`)
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
    const { data, meta } = await response.json() as { data: unknown[], meta: { next_token: string, has_more: boolean } }
    rows += data.length
    hasMore = meta.has_more
    // The token of the last full page.
    if (hasMore && token !== null) lastToken = token
    token = meta.next_token
  }
  return { rowsPerSecond: rows / (performance.now() - startedAt) * 1000, lastToken }
}

function targetOf (port: number, path: string): Target {
  const separator = path.startsWith('?') ? '' : '/'
  return { port, path: `/api/v1/public/${bigTenant}/candidates${separator}${path}`, headers: { authorization: `Bearer ${keyOf(bigTenant)}` } }
}

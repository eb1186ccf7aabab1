import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import { createRecruiting } from 'fastify-recruiting-api'
import { postgresStorage } from 'fastify-recruiting-api/postgres'
import pg from 'pg'
import { createEventData } from '../deliver/work.js'
import type { Done, Work } from '../deliver/work.js'
import { startDatabase } from '../harness/database.js'
import { createEndpoints, printFigure, quantile, queueDeliveries, time } from '../harness/fill.js'
import { type Helper, startHelper } from '../harness/helper.js'

/*
 * Several worker processes drain one queue: their rate, and the CPU of workers and PostgreSQL per delivery, against a
 * bare loop. Then idle processes, and a stopped one. Linux only. BENCH_BASE is a checkout of another state with this
 * folder `bench`, whose benchmarks were built: both take turns.
 */
const { BENCH_BASE, BENCH_WORKERS = '1,2,4,8', BENCH_ENDPOINTS = '20', BENCH_EVENTS = '16000', BENCH_ROUNDS = '3' } = process.env
const counts = BENCH_WORKERS.split(',').map(Number)
const endpoints = Number(BENCH_ENDPOINTS)
const events = Number(BENCH_EVENTS)
const rounds = Number(BENCH_ROUNDS)
const listening = { allowHttp: true, allowNetworks: ['127.0.0.0/8'] }
const catalogue = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`type.t${n}`, Type.Object({})]))
const logger = { info () {}, warn () {}, error () {} }

interface Variant {
  name: string
  url: string
  pool: pg.Pool
  workers: Helper[]
}

interface Sample {
  perSecond: number
  workerMicros: number
  databaseMicros: number
  /** Of the bare loop, just before. */
  bareMicros: number
}

const database = await startDatabase()
const receiver = await startHelper(new URL('../deliver/receiver.js', import.meta.url))
const work: Work = { ports: await receiver.ask<number[]>('open', endpoints), events, concurrency: 64, perEndpoint: 4 }
const bare = await startHelper(new URL('../deliver/bare-sender.js', import.meta.url))
const postmaster = await findPostmaster()

const variants = [await createVariant('this', new URL('../', import.meta.url))]
if (BENCH_BASE !== undefined) {
  variants.push(await createVariant('base', new URL(
    `file://${BENCH_BASE}/node_modules/.cache/fastify-recruiting-api-bench/bench/`
  )))
}
await sendBare()
for (const variant of variants) await drain(variant, Math.max(...counts))
const samples = new Map<string, Sample[]>(
  variants.flatMap(({ name }) => counts.map((count) => [`${count} ${name}`, []]))
)
// All counts and the bare loop take turns, because the speed of a shared machine changes.
for (let round = 0; round < rounds; round++) {
  for (const count of counts) {
    for (const variant of round % 2 === 0 ? variants : variants.toReversed()) {
      const bareMicros = await sendBare()
      samples.get(`${count} ${variant.name}`)?.push({ ...await drain(variant, count), bareMicros })
    }
  }
}
console.log(`\nqueue: ${events} deliveries to ${endpoints} endpoints`)
const median = (of: readonly Sample[], read: (sample: Sample, round: number) => number) => quantile(of.map(read))
for (const [name, of] of samples) {
  console.log(`  ${name}: ${Math.round(median(of, ({ perSecond }) => perSecond))}/s, ` +
    `${median(of, ({ workerMicros }) => workerMicros).toFixed(1)} + ` +
    `${median(of, ({ databaseMicros }) => databaseMicros).toFixed(1)} µs, ` +
    `${median(of, (sample) => sumMicros(sample) / sample.bareMicros).toFixed(2)} times the bare loop`)
  const alone = samples.get(name.replace(/^\d+/, '1'))
  if (alone === undefined || alone === of) continue
  const ratio = (read: (sample: Sample) => number): string =>
    median(of, (sample, round) => read(sample) / read(alone[round] ?? sample)).toFixed(2)
  const rate = ratio(({ perSecond }) => perSecond)
  console.log(`    against one: ${rate} times the rate, ${ratio(sumMicros)} times the CPU`)
}

const [ours] = variants
if (ours !== undefined) {
  console.log()
  const alone = await countClaims(ours, 1)
  const many = await countClaims(ours, 32)
  printFigure('claims a second, 20 events a second by one process that delivers', alone, null, '')
  printFigure('the same, 32 processes', many, null, '')
  printFigure('32 against one', many / alone, 3, 'times')
  printFigure('the same, the events come from a process that does not deliver',
    await countClaims(ours, 32, true) / await countClaims(ours, 1, true), 3, 'times')
  printFigure('a claim beside a worker that was stopped while it read 64 bodies of 200 kB', await measureStopped(ours), 100)
}

for (const { pool, workers } of variants) {
  await Promise.all(workers.map((worker) => worker.stop()))
  await pool.end()
}
await Promise.all([bare.stop(), receiver.stop()])
await database.close()

async function createVariant (name: string, folder: URL): Promise<Variant> {
  await database.pool.query(`create database ${name}_state`)
  const url = Object.assign(new URL(database.url), { pathname: `/${name}_state` }).href
  const pool = new pg.Pool({ connectionString: url })
  const workers = await Promise.all(Array.from({ length: Math.max(...counts) }, () =>
    startHelper(new URL('queue/worker.js', folder), url)))
  await workers[0]?.ask('migrate')
  return { name, url, pool, workers }
}

/** Creates the webhooks of the receivers. */
async function prepare (pool: pg.Pool): Promise<void> {
  await createEndpoints(pool, endpoints)
  await pool.query("update recruiting.webhooks set target_url = 'http://127.0.0.1:' || ($1::text[])[id] || '/hooks'", [work.ports])
}

async function drain ({ pool, workers }: Variant, count: number): Promise<Omit<Sample, 'bareMicros'>> {
  await prepare(pool)
  await queueDeliveries(pool, events, endpoints)
  await pool.query('checkpoint')
  await receiver.ask('count')
  const before = readCpu(postmaster)
  const done = await Promise.all(workers.slice(0, count).map((worker) => worker.ask<Done>('send', work)))
  const databaseMicros = readCpu(postmaster) - before
  const ms = await receiver.ask<number>('span')
  assert.equal(await receiver.ask('count'), events)
  const workerMicros = done.reduce((sum, { cpuMicros }) => sum + cpuMicros, 0)
  return { perSecond: events / ms * 1000, workerMicros: workerMicros / events, databaseMicros: databaseMicros / events }
}

function sumMicros ({ workerMicros, databaseMicros }: Sample): number {
  return workerMicros + databaseMicros
}

async function sendBare (): Promise<number> {
  const { cpuMicros } = await bare.ask<Done>('send', work)
  return cpuMicros / events
}

/** Returns how often idle processes claim in a second, beside 20 events a second. */
async function countClaims ({ pool, url }: Variant, processes: number, isEmittedElsewhere = false): Promise<number> {
  await prepare(pool)
  let claims = 0
  const started = Array.from({ length: processes }, () => {
    const own = new pg.Pool({ connectionString: url, max: 2, connectionTimeoutMillis: 5000 })
    const storage = postgresStorage(own)
    const { claimDue, recordAndClaim } = storage.deliveries
    storage.deliveries.claimDue = (...values) => claimDue(...values).finally(() => { claims++ })
    storage.deliveries.recordAndClaim = (...values) => recordAndClaim(...values).finally(() => { claims++ })
    return { own, engine: createRecruiting({ storage, events: catalogue, delivery: listening, logger }) }
  })
  const elsewhere = createRecruiting({ storage: postgresStorage(pool), events: catalogue, delivery: false, logger })
  await sleep(2000)
  claims = 0
  const emits = 100
  for (let n = 0; n < emits; n++) {
    const engine = isEmittedElsewhere ? elsewhere : started[n % processes]?.engine
    await engine?.emit({ tenantSlug: `tenant_${n % 5}`, type: `type.t${n % 5 + 5}`, data: createEventData(n) })
    await sleep(1000 / 20)
  }
  const perSecond = claims / (emits / 20)
  for (const { own, engine } of started) {
    await engine.close()
    await own.end()
  }
  await elsewhere.close()
  return perSecond
}

async function measureStopped ({ pool, workers: [stopped] }: Variant): Promise<number> {
  await prepare(pool)
  await queueDeliveries(pool, 200, endpoints)
  await pool.query("update recruiting.events set body = repeat('x', 200000)")
  await stopped?.ask('stop')
  await sleep(500)
  const { deliveries } = postgresStorage(pool)
  const ms = await time(() => deliveries.claimDue({ limit: 64, perEndpoint: 8, leaseMs: 60_000 }))
  if (stopped !== undefined) process.kill(stopped.pid, 'SIGCONT')
  return ms
}

async function findPostmaster (): Promise<number> {
  const { rows: [row] } = await database.pool.query('select pg_backend_pid() as pid')
  return readStat(row.pid).parent
}

/** Returns the microseconds of CPU of PostgreSQL: the living processes, and those that have ended. */
function readCpu (pid: number): number {
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map((name) => readStat(Number(name)))
    .filter(({ parent }) => parent === pid)
  const { own, ended } = readStat(pid)
  return own + ended + children.reduce((sum, child) => sum + child.own, 0)
}

function readStat (pid: number): { parent: number, own: number, ended: number } {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ').map(Number) ?? []
    const [parent = 0] = fields.slice(1)
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11)
    // The kernel counts hundredths of a second.
    return { parent, own: (user + system) * 10_000, ended: (endedUser + endedSystem) * 10_000 }
  } catch {
    // The process has ended.
    return { parent: 0, own: 0, ended: 0 }
  }
}

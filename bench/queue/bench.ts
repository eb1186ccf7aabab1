import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import pg from 'pg'
import type { Done, Work } from '../deliver/work.js'
import { startDatabase } from '../harness/database.js'
import { createEndpoints, quantile, queueDeliveries } from '../harness/fill.js'
import { type Helper, startHelper } from '../harness/helper.js'

/*
 * Several worker processes drain one queue: their rate, and the CPU of workers and PostgreSQL per delivery, against a
 * bare loop. BENCH_BASE is a checkout of another state whose benchmarks were built: both take turns. Linux only.
 */
const { BENCH_BASE, BENCH_WORKERS = '1,2,4,8', BENCH_ENDPOINTS = '20', BENCH_EVENTS = '8000', BENCH_ROUNDS = '3' } = process.env
const counts = BENCH_WORKERS.split(',').map(Number)
const endpoints = Number(BENCH_ENDPOINTS)
const events = Number(BENCH_EVENTS)
const rounds = Number(BENCH_ROUNDS)

interface Variant {
  name: string
  pool: pg.Pool
  workers: Helper[]
}

interface Sample {
  perSecond: number
  workerMicros: number
  databaseMicros: number
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
const bareMicros: number[] = []
for (let round = 0; round < rounds; round++) bareMicros.push(await sendBare())
console.log(`\nqueue: ${events} deliveries to ${endpoints} endpoints; the bare loop takes ${quantile(bareMicros).toFixed(1)} µs each`)
for (const variant of variants) await drain(variant, Math.max(...counts))
for (const count of counts) {
  const samples = new Map(variants.map(({ name }): [string, Sample[]] => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const variant of round % 2 === 0 ? variants : variants.toReversed()) {
      samples.get(variant.name)?.push(await drain(variant, count))
    }
  }
  for (const [name, of] of samples) {
    const [rate = 0, worker = 0, server = 0] = [
      of.map(({ perSecond }) => perSecond), of.map(({ workerMicros }) => workerMicros),
      of.map(({ databaseMicros }) => databaseMicros)
    ].map((values) => quantile(values))
    console.log(`  ${count} ${name}: ${Math.round(rate)}/s, ${worker.toFixed(1)} + ${server.toFixed(1)} = ` +
      `${(worker + server).toFixed(1)} µs, ${((worker + server) / quantile(bareMicros)).toFixed(2)} times the bare loop`)
  }
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
  const { migrate } = await import(new URL('../src/postgres/index.js', folder).href)
  await migrate(pool)
  const workers = await Promise.all(Array.from({ length: Math.max(...counts) }, () =>
    startHelper(new URL('queue/worker.js', folder), url)))
  return { name, pool, workers }
}

async function drain ({ pool, workers }: Variant, count: number): Promise<Sample> {
  await createEndpoints(pool, endpoints)
  await pool.query("update recruiting.webhooks set target_url = 'http://127.0.0.1:' || ($1::text[])[id] || '/hooks'", [work.ports])
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

async function sendBare (): Promise<number> {
  const { cpuMicros } = await bare.ask<Done>('send', work)
  return cpuMicros / events
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

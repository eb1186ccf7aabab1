import { migrate, postgresStorage } from 'fastify-recruiting-api/postgres'
import { startDatabase } from '../harness/database.js'
import { createEndpoints, printFigure, queueDeliveries, time } from '../harness/fill.js'

/*
 * The cost of a long history and a long queue: pages of a log, figures, stopping a webhook, pruning.
 */
const logged = 1_500_000
const pending = 1_000_000
const stopped = 150_000

const database = await startDatabase()
const { pool } = database
await migrate(pool)
const { webhooks, deliveries } = postgresStorage(pool, { queryTimeoutMs: 60_000 })

await createEndpoints(pool, 20)
await pool.query(`
  with made as (
    insert into recruiting.events (id, tenant_key, type, body, fingerprint, recorded_at)
    select 'evt_' || n, 'tenant_1', 'type.t1', '{}', '', now() - interval '60 days' * (1 - n / $1::double precision)
    from generate_series(1, $1::integer) as n
    returning seq, recorded_at
  )
  insert into recruiting.deliveries (webhook_id, id, event_seq, status, created_at, ended_at, duration_ms, response_status)
  select 1, nextval('recruiting.delivery_ids'), seq, 'delivered', recorded_at, recorded_at, 5, 200 from made order by seq`, [logged])
await pool.query('vacuum analyze')

console.log(`\nlog of ${logged} deliveries`)
const page = { filter: {}, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: 25 } as const
const newest = [{ field: 'created_at', direction: 'desc' }] as const
await measure('page 1', 20, () => deliveries.list('tenant_1', 1, page))
await measure('sort=-created_at', 20, () => deliveries.list('tenant_1', 1, { ...page, sort: newest }))
await measure('filter[status]=failed without a match', 20, () => deliveries.list('tenant_1', 1, { ...page, filter: { status: 'failed' } }))
await pool.query("update recruiting.deliveries set status = 'failed' where id % 100000 = 0")
await measure('filter[status]=failed with matches', 20, () => deliveries.list('tenant_1', 1, { ...page, filter: { status: 'failed' } }))
await measure('one event', 20, () => deliveries.list('tenant_1', 1, { ...page, filter: { eventId: 'evt_70000' } }))
await measure('exact total', null, () => deliveries.count('tenant_1', 1, {}))

console.log('\nprune')
const idle = await pool.query('explain (analyze, buffers, format json) select recruiting.prune_v1(365, 1000, 0)')
printFigure('buffers when nothing is old', idle.rows[0]['QUERY PLAN'][0].Plan['Shared Hit Blocks'] + idle.rows[0]['QUERY PLAN'][0].Plan['Shared Read Blocks'], 1000, '')
let pruned = 0
const pruningMs = await time(async () => {
  while (pruned < 10_000) pruned += await deliveries.prune({ retentionDays: 30, limit: 1000 })
})
printFigure(`${pruned} rows`, pruningMs, 500)

await createEndpoints(pool, 20)
await queueDeliveries(pool, pending, 20)
console.log(`\n${pending} pending`)
await measure('stats', 50, () => deliveries.stats())
await createEndpoints(pool, 1)
await queueDeliveries(pool, stopped, 1)
printFigure(`deactivating a webhook with ${stopped} pending`, await time(() => webhooks.update('tenant_1', 1, { status: 'inactive' })), 50)
await database.close()

async function measure (name: string, target: number | null, call: () => Promise<unknown>): Promise<void> {
  await call()
  const times = [await time(call), await time(call), await time(call)]
  printFigure(name, times.toSorted((a, b) => a - b)[1] ?? Number.NaN, target)
}

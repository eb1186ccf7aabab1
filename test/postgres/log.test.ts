import t from 'tap'
import type { DeliveryFilter } from '../../src/index.js'
import { postgresStorage } from '../../src/storages/postgres/index.js'
import { buildApp, keys } from '../fixtures/api/app.js'
import { measurePool, type Reading } from '../fixtures/postgres/measured-pool.js'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'

t.test('a log of 10,001 deliveries, next to 30,000 pending and 10,000 of another webhook', async (t) => {
  const { pool, storage } = await startPostgresHost(t)
  await pool.query(`
    insert into recruiting.webhooks (id, tenant, tenant_slug, name, status, target_url, event_types, secret, created_at, updated_at)
    select id, 'acme', 'acme', 'CRM', 'active', 'https://example.com/', '{job.created}', 'secret', now(), now()
    from generate_series(1, 3) as id;

    insert into recruiting.events (id, tenant_key, type, body, fingerprint, recorded_at)
    select 'evt_' || n, 'acme', case when n % 10000 = 0 then 'job.closed' when n > 40000 then 'job.updated' else 'job.created' end,
      '{}', '', now()
    from generate_series(1, 50001) as n;

    -- Webhook 2 has all but two of the closed jobs.
    insert into recruiting.queue (event_seq, webhook_id, event_type, lane, due_at, created_at)
    select seq, 2, type, 1, now(), now() from recruiting.events where seq <= 30000;
    insert into recruiting.deliveries (webhook_id, id, event_seq, event_type, status, created_at, ended_at)
    select case when seq > 40000 then 1 else 2 end, nextval('recruiting.delivery_ids'), seq, type,
      case when seq in (40005, 30005) then 'failed' else 'delivered' end, now(), now()
    from recruiting.events where seq > 30000;
    insert into recruiting.deliveries (webhook_id, id, event_seq, event_type, status, created_at, ended_at)
    select 1, nextval('recruiting.delivery_ids'), 1, 'job.created', 'skipped', now(), now()`)
  await pool.query('delete from recruiting.deliveries where webhook_id = 1 and event_seq = 50001')
  await pool.query('vacuum analyze')

  const readings: Reading[] = []
  const { deliveries } = postgresStorage(measurePool(pool, '-api list deliveries ', readings))
  const totals: Reading[] = []
  const counted = postgresStorage(measurePool(pool, '-api count deliveries ', totals)).deliveries

  const few: Array<[webhookId: number, filter: DeliveryFilter, count: number]> = [
    [1, { status: 'failed' }, 1],
    [1, { status: 'skipped' }, 1],
    [1, { status: 'cancelled' }, 0],
    [1, { eventType: 'job.closed' }, 1],
    // Common in all webhooks together, but rare in this one.
    [1, { eventType: 'job.created' }, 1],
    [3, { eventType: 'job.updated', status: 'delivered' }, 0],
    [1, { eventType: 'job.updated', status: 'failed' }, 1],
    [2, { eventType: 'job.closed', status: 'pending' }, 3],
    [2, { eventType: 'job.closed' }, 4],
    [1, { eventId: 'evt_45000' }, 1],
    [1, { eventId: 'evt_45000', status: 'delivered', eventType: 'job.updated' }, 1]
  ]
  for (const [webhookId, filter, count] of few) {
    await t.test(`webhook ${webhookId}, ${JSON.stringify(filter)}: the page and the total read only what they return`, async (t) => {
      for (const direction of ['asc', 'desc'] as const) {
        const rows = await deliveries.list('acme', webhookId, {
          filter, sort: [{ field: 'id', direction }], offset: 0, limit: 25
        })
        t.equal(rows.length, count)
        const { buffers } = readings.at(-1) ?? t.fail('no plan') as never
        t.ok(buffers < 80, `${buffers} buffers of the page`)
      }
      t.equal(await counted.count('acme', webhookId, filter, { limit: 10_001 }), count)
      const { buffers } = totals.at(-1) ?? t.fail('no plan') as never
      t.ok(buffers < 60, `${buffers} buffers of the total`)
    })
  }

  await t.test('counting stops at the limit', async (t) => {
    t.equal(await counted.count('acme', 2, {}, { limit: 100 }), 100)
    const { buffers } = totals.at(-1) ?? t.fail('no plan') as never
    t.ok(buffers < 100, `${buffers} buffers`)
    t.equal(await counted.count('acme', 2, {}), 40_000)
  })

  const app = await buildApp(t, { storage })
  async function read (path: string) {
    const { statusCode, headers: { link }, ...response } = await app.inject({
      url: `/api/v1/public/acme/webhooks/${path}`, headers: { authorization: `Bearer ${keys.full}` }
    })
    const { data, meta } = response.json()
    const links = Array.from(String(link).matchAll(/[?&]page=(\d+)[^>]*>; rel="(\w+)"/g), ([, page, rel]) => [rel, Number(page)])
    return { statusCode, rows: data.length, meta, links: Object.fromEntries(links) }
  }

  await t.test('the total of a log is exact up to 10,000', async (t) => {
    t.strictSame(await read('1/deliveries?per_page=200&filter[status]=delivered'), {
      statusCode: 200,
      rows: 200,
      meta: { page: 1, per_page: 200, total: 9999, total_pages: 50 },
      links: { first: 1, next: 2, last: 50 }
    })
    await pool.query("update recruiting.deliveries set status = 'delivered' where webhook_id = 1 and status = 'failed'")
    const { meta, links } = await read('1/deliveries?per_page=200&filter[status]=delivered')
    t.strictSame(meta, { page: 1, per_page: 200, total: 10_000, total_pages: 50 })
    t.strictSame(links, { first: 1, next: 2, last: 50 })
  })

  await t.test('a longer log has a capped total and no last page, and later pages can be read', async (t) => {
    const meta = { per_page: 200, total: 10_000, total_pages: 50, total_is_capped: true }
    t.strictSame(await read('1/deliveries?per_page=200'), {
      statusCode: 200, rows: 200, meta: { page: 1, ...meta }, links: { first: 1, next: 2 }
    })
    t.strictSame(await read('1/deliveries?per_page=200&page=50'), {
      statusCode: 200, rows: 200, meta: { page: 50, ...meta }, links: { first: 1, prev: 49, next: 51 }
    })
    t.strictSame(await read('1/deliveries?per_page=200&page=51'), {
      statusCode: 200, rows: 1, meta: { page: 51, ...meta }, links: { first: 1, prev: 50 }
    })
  })
})

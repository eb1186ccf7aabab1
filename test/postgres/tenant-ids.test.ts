import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { apiKeys } from '../../src/storages/postgres/index.js'
import { webhookInput } from '../fixtures/api/webhook-api.js'
import { silentLogger } from '../fixtures/delivery/silent-logger.js'
import { begin, startPostgresHost } from '../fixtures/postgres/postgres.js'

t.test('the transaction that creates a tenant can emit, record changes, issue keys and rename it by its id', async (t) => {
  const { pool, storage } = await startPostgresHost(t)
  await pool.query('create table companies (id integer primary key, slug text not null)')
  const find = async (text: string, value: string, client: Pick<typeof pool, 'query'> = pool): Promise<string | null> =>
    (await client.query(text, [value])).rows[0]?.found ?? null
  const tenantId = (slug: string) => find('select id::text as found from companies where slug = $1', slug)
  const tenantSlug = (id: string, transaction: unknown) =>
    find('select slug as found from companies where id = $1', id, transaction as typeof pool | undefined)
  const recruiting = createRecruiting({ storage, tenantId, tenantSlug, delivery: false, logger: silentLogger })
  t.teardown(() => recruiting.close())

  const client = await begin(pool)
  await client.query("insert into companies values (41, 'acme')")
  const event = { type: 'job.created', data: { id: 1 } } as const
  await t.rejects(recruiting.emit({ ...event, tenantSlug: 'acme' }, { transaction: client }), { code: 'unknown_tenant' },
    'another connection does not see the row')
  t.same((await recruiting.emit({ ...event, tenantId: 41 }, { transaction: client })).deliveries, 0)
  await recruiting.changed({ tenantId: 41, kind: 'job', id: 1 }, { transaction: client })
  await apiKeys(pool, { tenantSlug }).issue({ tenantId: 41, scopes: [] }, { transaction: client })
  await client.query("update companies set slug = 'acme-corp'")
  t.same(await recruiting.renameTenant({ tenantId: 41 }, 'acme-corp', { transaction: client }), { webhooks: 0 })
  t.same(await storage.feed.latest('41', { limit: 1, eventTypes: null }), [], 'nothing is visible before the commit')
  await client.finish()

  const [body = ''] = await storage.feed.latest('41', { limit: 1, eventTypes: null })
  t.match(JSON.parse(body), { tenant_slug: 'acme', ...event })
  t.match(await apiKeys(pool).list({ tenantId: 41 }), [{ tenantSlug: 'acme-corp', tenantId: '41' }])
  const { id } = await recruiting.webhooks.create('acme-corp', webhookInput)
  t.match(await recruiting.webhooks.find({ tenantId: 41 }, id), { id })
})

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { apiKeys } from '../../src/postgres/index.js'
import { toLoopback } from '../fixtures/api/webhook-api.js'
import { createCli } from '../fixtures/cli/cli.js'
import { startPostgres } from '../fixtures/postgres/postgres-server.js'
import { createTables } from '../fixtures/postgres/postgres.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'

const tenantId = '0197f4c2-8a10-7d3e-9b51-6c2f8e1a4d70 Ünïcode'
const secretKey = Buffer.alloc(32, 1)

t.test('commands about a tenant whose id is no slug', async (t) => {
  const { url, createPool } = await startPostgres(t)
  const pool = createPool()
  const { storage } = await createTables(pool)
  const cli = createCli(url)
  const names = new Set(['acme', 'globex'])
  const recruiting = createRecruiting({
    storage, tenantId: (slug) => names.has(slug) ? tenantId : null, delivery: { worker: false, ...toLoopback }, secretKeys: [secretKey]
  })
  t.teardown(() => recruiting.close())
  const folder = t.testdir({})
  const path = join(folder, 'keys')
  await writeFile(path, secretKey.toString('hex'))
  const receiver = await startReceiver(t)
  const { id } = await recruiting.webhooks.create('acme', { name: 'CRM', target_url: receiver.url, event_types: ['application.created'] })

  await t.test('a test notification has its slug in the body', async (t) => {
    t.match(await cli(`webhooks test ${id} --yes --allow-http --allow-networks 127.0.0.1/32 --secret-keys ${path}`), { code: 0 })
    t.match(receiver.requests.map(({ body }) => JSON.parse(body)), [{ tenant_slug: 'acme', test: true }])
  })

  await t.test('webhooks and deliveries are found, listed and changed', async (t) => {
    t.match(JSON.parse((await cli(['webhooks', 'list', '--tenant', tenantId, '--json'])).out), [{ id }])
    t.match(JSON.parse((await cli(`webhooks show ${id} --json`)).out), { tenant_slug: 'acme', tenant_id: tenantId, id })
    t.match(await cli(`webhooks disable ${id} --yes`), { code: 0 })
    await recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
    t.match(await cli(`webhooks enable ${id} --yes`), { code: 0 })
    const { data: [delivery] } = JSON.parse((await cli(`deliveries list --webhook ${id} --json`)).out)
    t.match(JSON.parse((await cli(`deliveries show ${delivery.id} --webhook ${id} --json`)).out), { status: 'skipped' })
    t.match(await cli(`replay --webhook ${id} --yes`), { code: 0, out: 'queued 1 delivery\n' })
    t.match(await cli(`deliveries retry ${delivery.id} --webhook ${id} --yes`), { code: 0 })
  })

  await t.test('a key is issued for the id, and shows the slug', async (t) => {
    const issue = (...options: string[]) => cli(['keys', 'issue', '--tenant', tenantId, '--scopes', 'jobs:read', '--json', '--yes', '--out', join(folder, 'key'), ...options])
    const { code, out } = await issue('--tenant-slug', 'acme')
    t.equal(code, 0)
    t.match(JSON.parse(out), { tenantSlug: 'acme', tenantId })
    t.match(JSON.parse((await cli(['keys', 'list', '--tenant', tenantId, '--json'])).out), [{ tenantId }])
    t.match(await issue('--tenant-slug', 'a\nb'), { code: 2, err: /^keys issue: --tenant-slug: expected a tenant slug/ })
  })

  await t.test('doctor opens its secrets', async (t) => {
    t.match(await cli(`doctor --no-lists --wait-seconds 0 --secret-keys ${path}`), { out: /the keys open all of them/ })
  })

  await t.test('only its name changes when it is renamed', async (t) => {
    t.match(await cli('tenants rename acme globex --yes'), { code: 1, err: 'tenants rename: the tenant acme has no webhooks, keys or events\n' })
    const { code, err } = await cli(['tenants', 'rename', 'acme', 'globex', '--tenant', tenantId], { answers: ['y'] })
    t.equal(code, 0)
    t.match(err, `Renames the tenant acme to globex: id ${tenantId}, 1 webhook, 1 key, and its events with their deliveries. Only its name in logs, notices and keys changes.`)
    t.match(JSON.parse((await cli(`webhooks show ${id} --json`)).out), { tenant_slug: 'globex', tenant_id: tenantId })
    t.match(await apiKeys(pool).list({ tenantId }), [{ tenantSlug: 'globex' }])
    t.match(await recruiting.webhooks.find('globex', id), { id })
    t.strictSame(await storage.webhooks.listResting(), [])
  })

  await t.test('it is removed, and its name does not rest', async (t) => {
    t.match(await cli(['tenants', 'remove', 'globex', '--tenant', 'a\nb', '--yes']), { code: 2, err: /^tenants remove: --tenant: expected an integer, or text/ })
    t.match(await cli(['tenants', 'remove', 'acme', '--tenant', tenantId, '--yes']), { code: 1, err: `tenants remove: TENANT: the tenant with the id ${tenantId} is globex, not acme\n` })
    t.match(await cli(['tenants', 'remove', 'globex', '--tenant', tenantId, '--yes']), { code: 0, out: 'removed globex\n' })
    t.strictSame([await storage.webhooks.count(tenantId, {}), await apiKeys(pool).list({ tenantId }), await storage.webhooks.listResting()], [0, [], []])
  })
})

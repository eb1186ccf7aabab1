import { readFile } from 'node:fs/promises'
import t from 'tap'
import { storeWebhook } from '../fixtures/api/webhooks.js'
import { createCli } from '../fixtures/cli/cli.js'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'

t.test('webhooks of all tenants are listed, deactivated and deleted', async (t) => {
  const { server, storage, pool } = await startPostgresHost(t)
  const run = createCli(server.url)
  const ids: number[] = []
  for (const tenant of ['acme', 'acme', 'globex']) ids.push((await storeWebhook(storage, tenant)).id)
  const statuses = async (): Promise<unknown> => (await pool.query('select tenant, status from recruiting.webhooks order by id')).rows.map(Object.values)

  const listed = JSON.parse((await run('webhooks list --json')).out)
  t.same(listed.map(({ tenant_slug: slug, id }: { tenant_slug: string, id: number }) => [slug, id]), [['acme', ids[0]], ['acme', ids[1]], ['globex', ids[2]]])
  t.match((await run('webhooks list')).out, /^id +tenant +status .*\n\d+ +acme +active /)
  t.equal(JSON.parse((await run('webhooks list --status inactive --json')).out).length, 0)
  await storage.webhooks.update('acme', Number(ids[1]), { event_types: ['offer.retired'] })
  for (const tenant of ['', '--tenant acme']) {
    t.match(JSON.parse((await run(`webhooks list ${tenant} --event-type offer.retired --json`)).out), [
      { id: ids[1], tenant_slug: 'acme' }
    ])
  }

  t.match(await run('webhooks disable-all'), { code: 2, err: /Deactivates 3 webhooks of 2 tenants\. .*\n.*--yes: required/ })
  t.match(await run('webhooks disable-all', { answers: ['n'] }), { code: 1 })
  const folder = t.testdir({})
  t.match(await run(`webhooks disable-all --tenant globex --yes --audit-file ${folder}/audit --actor ada`), { code: 0, out: 'deactivated 1 webhook\n' })
  t.same(await statuses(), [['acme', 'active'], ['acme', 'active'], ['globex', 'inactive']])
  t.match((await readFile(`${folder}/audit`, 'utf8')).trim().split('\n').map((line) => JSON.parse(line)), [
    { operationId: 'webhooks disable-all', tenantSlug: 'globex', resource: { kind: 'webhook', id: ids[2] }, actor: 'ada' },
    { operationId: 'webhooks disable-all', rowCount: 1 }
  ])
  t.match(await run('webhooks disable-all --yes --json'), { code: 0, out: /"changed": \[/ })
  t.same(await statuses(), [['acme', 'inactive'], ['acme', 'inactive'], ['globex', 'inactive']])
  t.match(await run('webhooks disable-all --yes'), { code: 0, out: 'nothing to do\n' })

  t.match(await run(`webhooks delete ${ids[0]} --yes`), { code: 0, out: `deleted the webhook ${ids[0]}\n` })
  t.match(await run(`webhooks delete ${ids[0]} --yes`), { code: 1, err: /there is no webhook/ })
  t.match(await run('webhooks delete-all --status disabled --yes'), { code: 0, out: 'nothing to do\n' })
  t.match(await run('webhooks delete-all --yes'), { code: 0, out: 'deleted 2 webhooks\n' })
  t.same(await statuses(), [])
  t.match(await run('webhooks delete-all --status none --yes'), { code: 2, err: /--status: expected one of/ })
})

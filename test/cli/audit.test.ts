import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { migrate, postgresStorage } from '../../src/postgres/index.js'
import { createCli } from '../fixtures/cli/cli.js'
import { startPostgres } from '../fixtures/postgres/postgres-server.js'

t.test('commands write what they did to the file of --audit-file', async (t) => {
  const { url, createPool } = await startPostgres(t)
  const pool = createPool()
  await migrate(pool)
  const folder = t.testdir({})
  const path = join(folder, 'audit.jsonl')
  const cli = createCli(url, { now: () => 1_767_225_600_000, env: { DATABASE_URL: url, RECRUITING_AUDIT_FILE: path, RECRUITING_ACTOR: 'ops:ann' } })
  const recruiting = createRecruiting({ storage: postgresStorage(pool), delivery: false })
  t.teardown(() => recruiting.close())
  const { id } = await recruiting.webhooks.create('acme', { name: 'CRM', target_url: 'https://example.com/', event_types: ['application.created'] })
  await recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {}, subject: 'candidate:42' })
  const { data: [delivery] } = await recruiting.webhooks.listDeliveries('acme', id)
  const key = JSON.parse((await cli(`keys issue --tenant acme --scopes jobs:read --out ${join(folder, 'key')} --yes --json`)).out)
  for (const line of [
    'stats', `webhooks disable ${id} --yes --actor support:bob`, `webhooks enable ${id} --yes`, `deliveries retry ${delivery?.id} --webhook ${id} --yes`,
    `keys revoke ${key.id} --tenant acme --yes`, 'subjects find candidate:42 --tenant acme', 'tenants rename acme globex --yes', 'tenants remove globex --yes'
  ]) t.match(await cli(line), { code: 0 }, line)
  t.match(await cli('webhooks enable 999 --yes'), { code: 1 }, 'what was refused is not written')
  await pool.query('create table people (id bigint primary key, company text)')
  t.match(await cli('watch --kind candidate --relation people --id id --tenant company'), { code: 0 })
  const file = join(folder, 'webhooks.json')
  const entry = { tenant: 'initech', name: 'CRM', target_url: 'https://example.com/', event_types: ['job.created'], secret: `whsec_${Buffer.alloc(24, 1).toString('base64')}` }
  await writeFile(file, JSON.stringify([entry, { ...entry, target_url: 'http://example.com/' }]))
  t.match(await cli(`webhooks import ${file} --yes`), { code: 1 })
  const { rows: [{ imported }] } = await pool.query('select id::int as imported from recruiting.webhooks')
  // With the option tenantId.
  const own = JSON.parse((await cli(`keys issue --tenant 41 --tenant-slug acme --scopes jobs:read --out ${join(folder, 'own')} --yes --json --audit-file ${join(folder, 'other')}`)).out)
  await pool.query("create function recruiting.refuse () returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$")
  await pool.query('create trigger refuse before insert or update or delete on recruiting.api_keys for each row execute function recruiting.refuse()')
  t.match(await cli('tenants remove acme --tenant 41 --yes'), { code: 1, err: /refused/ })
  t.match(await cli(`keys revoke ${own.id} --tenant 41 --yes`), { code: 1, err: /refused/ })
  t.match(await cli(`keys rotate ${own.id} --tenant 41 --out ${join(folder, 'rotated')} --yes`), { code: 1, err: /refused/ })
  await pool.query("update recruiting.webhooks set secret = 'sealed_v1:x'")
  await writeFile(join(folder, 'keys'), Buffer.alloc(32, 1).toString('hex'))
  t.match(await cli(`reseal --secret-keys ${join(folder, 'keys')}`, { answers: ['n'] }), { code: 1 })
  t.match(await cli(`reseal --secret-keys ${join(folder, 'keys')} --yes`), { code: 1, err: /none of the secretKeys opens/ })
  await pool.query('alter table recruiting.queue rename to gone')
  t.match(await cli('stats'), { code: 1 })
  t.match(await cli('stats --help'), { code: 0, out: /--audit-file FILE +appends what the command did to a file, as a line of JSON; or set RECRUITING_AUDIT_FILE/ })

  const entries = (await readFile(path, 'utf8')).trim().split('\n').map((line) => JSON.parse(line))
  const webhook = { kind: 'webhook', id }
  t.strictSame(entries[0], {
    at: '2026-01-01T00:00:00.000Z',
    source: 'command',
    requestId: null,
    tenantSlug: 'acme',
    keyId: null,
    actor: 'ops:ann',
    operationId: 'keys issue',
    isDeprecated: false,
    resource: { kind: 'key', id: key.id },
    method: null,
    filters: [],
    status: null,
    rowCount: null
  })
  t.match(entries.slice(-6).map(({ error }) => error), [/^FILE: webhook 2: /, 'refused', 'refused', 'refused', /none of the secretKeys opens/, /queue/])
  t.strictSame(entries.slice(1).map(({ actor, tenantSlug, operationId, resource, rowCount }) => [actor, tenantSlug, operationId, resource, rowCount]), [
    ['ops:ann', null, 'stats', null, null],
    ['support:bob', 'acme', 'webhooks disable', webhook, null],
    ['ops:ann', 'acme', 'webhooks enable', webhook, null],
    ['ops:ann', 'acme', 'deliveries retry', { kind: 'delivery', id: delivery?.id }, null],
    ['ops:ann', 'acme', 'keys revoke', { kind: 'key', id: key.id }, null],
    ['ops:ann', 'acme', 'subjects find', { kind: 'subject', id: 'candidate:42' }, 1],
    ['ops:ann', 'acme', 'tenants rename', { kind: 'tenant', id: 'globex' }, null],
    ['ops:ann', 'globex', 'tenants remove', { kind: 'tenant', id: 'globex' }, null],
    ['ops:ann', null, 'watch', null, null],
    ['ops:ann', 'initech', 'webhooks import', { kind: 'webhook', id: imported }, null],
    ['ops:ann', null, 'webhooks import', null, 1],
    ['ops:ann', 'acme', 'tenants remove', { kind: 'tenant', id: 'acme' }, null],
    ['ops:ann', 'acme', 'keys revoke', { kind: 'key', id: own.id }, null],
    ['ops:ann', 'acme', 'keys rotate', { kind: 'key', id: own.id }, null],
    ['ops:ann', null, 'reseal', null, null],
    ['ops:ann', null, 'stats', null, null]
  ])
})

t.test('an actor that cannot be, and a file that cannot be written, end the command before it does anything', async (t) => {
  const cli = createCli('postgres://postgres@127.0.0.1:1/nowhere')
  t.strictSame(await cli(['stats', '--actor', 'a\tb']), { code: 2, out: '', err: 'stats: --actor: expected 1 to 128 characters without control characters, got "a\\tb"\n' })
  t.strictSame(await cli('stats --audit-file /nowhere/audit'), { code: 2, out: '', err: 'stats: --audit-file: the file cannot be written (ENOENT)\n' })
})

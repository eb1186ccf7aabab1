import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { apiKeys } from '../../src/storages/postgres/index.js'
import { createCli, startCliHost } from '../fixtures/cli/cli.js'
import { startListening } from '../fixtures/cli/listening.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'

const cli = createCli(undefined)
const url = 'http://127.0.0.1:1/api/acme'
const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const expectedUrl = 'expected a URL such as https://ats.example.com/api/v1/public/acme'

t.test('wrong usage prints one line that names the argument, without a secret', async (t) => {
  for (const [argv, message] of [
    [['listen'], 'listen: --url: missing, add --url URL or set RECRUITING_URL'],
    [['listen', '--url', url], 'listen: --key: missing, set RECRUITING_API_KEY or add --key-file FILE'],
    [['listen', '--url', url, '--key', 'geheim', '--key-file', 'x'], 'listen: --key-file: cannot be combined with --key'],
    [['listen', '--url', url, '--forward', 'localhost:4000'], 'listen: --forward: must be an https URL'],
    [['listen', '--url', url, '--secret', 'geheim'], 'listen: --secret: expected whsec_ and 24 to 64 bytes in base64'],
    [['listen', '--url', url, '--every', '0'], 'listen: --every: expected an integer from 1 to 3600, got "0"'],
    [['trigger', '--url', url], 'trigger: TYPE: missing, usage: fastify-recruiting-api trigger TYPE --url URL [OPTIONS]'],
    [['trigger', 'a.b', '--url', url], 'trigger: --webhook, --forward: add one of them'],
    [['trigger', 'a.b', '--url', url, '--webhook', 'x'], 'trigger: --webhook: expected an integer, got "x"'],
    [['trigger', 'a.b', '--url', url, '--forward', 'http://localhost/'], 'trigger: --secret: missing, add the secret of your receiver or set RECRUITING_WEBHOOK_SECRET']
  ] as const) t.strictSame(await cli(argv), { code: 2, out: '', err: `${message}\n` })
})

t.test('an invalid URL, or one without a tenant, is rejected without being shown', async (t) => {
  for (const text of ['acme', 'ftp://host/acme', 'https://ats.example.com', 'https://ats.example.com/', 'https://me:geheim@host/acme', 'https://host/acme?x=1', 'https://host/%zz', 'https://host:x/acme']) {
    t.strictSame(await cli(['listen', '--url', text, '--key', 'rk_1']), { code: 2, out: '', err: `listen: --url: ${expectedUrl}\n` }, text)
  }
  t.strictSame(await cli('listen --key rk_1', { env: { RECRUITING_URL: 'x' } }), { code: 2, out: '', err: `listen: RECRUITING_URL: ${expectedUrl}\n` })
})

t.test('key, URL and secret can come from the environment, and the key from a file', async (t) => {
  const service = await startReceiver(t)
  service.answer(404)
  const address = `http://127.0.0.1:${service.port}/api/a%C3%A9`
  await startListening(t, ['listen'], { RECRUITING_URL: address, RECRUITING_API_KEY: 'rk_1\n', RECRUITING_WEBHOOK_SECRET: secret }).idle()
  await startListening(t, ['listen', '--url', address, '--key-file', `${t.testdir({ key: 'rk_2\n' })}/key`]).idle()
  t.match(service.requests, [
    { path: /^\/api\/a%C3%A9\/events\?/, headers: { authorization: 'Bearer rk_1' } },
    { path: /^\/api\/a%C3%A9\/events\?/, headers: { authorization: 'Bearer rk_2' } }
  ])
})

const tenantId = '0197f4c2-8a10-7d3e-9b51-6c2f8e1a4d70 Ünïcode'

t.test('commands about a tenant whose id is not a slug', async (t) => {
  const names = new Set(['acme', 'globex'])
  const { cli, pool, recruiting, storage } = await startCliHost(t, {
    tenantId: (slug) => names.has(slug) ? tenantId : null
  })
  const folder = t.testdir({})
  const receiver = await startReceiver(t)
  const { id } = await recruiting.webhooks.create('acme', { name: 'CRM', target_url: receiver.url, event_types: ['application.created'] })

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

  await t.test('a rename changes only its slug', async (t) => {
    t.match(await cli('tenants rename acme globex --yes'), { code: 1, err: 'tenants rename: the tenant acme has no webhooks, keys or events\n' })
    const { code, err } = await cli(['tenants', 'rename', 'acme', 'globex', '--tenant', tenantId], { answers: ['y'] })
    t.equal(code, 0)
    t.match(err, `Renames the tenant acme to globex: id ${tenantId}, 1 webhook, 1 key, and its events with their deliveries. Only its name in logs, notices and keys changes.`)
    t.match(JSON.parse((await cli(`webhooks show ${id} --json`)).out), { tenant_slug: 'globex', tenant_id: tenantId })
    t.match(await apiKeys(pool).list({ tenantId }), [{ tenantSlug: 'globex' }])
    t.match(await recruiting.webhooks.find('globex', id), { id })
    t.match(await storage.webhooks.listStates(), [{ tenantId, restsUntil: null, renamedAt: String }], 'neither slug rests')
  })

  await t.test('it is removed, and its slug does not rest', async (t) => {
    t.match(await cli(['tenants', 'remove', 'globex', '--tenant', 'a\nb', '--yes']), { code: 2, err: /^tenants remove: --tenant: expected an integer, or text/ })
    t.match(await cli(['tenants', 'remove', 'acme', '--tenant', tenantId, '--yes']), { code: 1, err: `tenants remove: TENANT: the tenant with the id ${tenantId} is globex, not acme\n` })
    t.match(await cli(['tenants', 'remove', 'globex', '--tenant', tenantId, '--yes']), { code: 0, out: 'removed globex\n' })
    t.equal(await storage.webhooks.count(tenantId, {}), 0)
    t.strictSame(await apiKeys(pool).list({ tenantId }), [])
    t.match(await storage.webhooks.listStates(), [{ tenantId, restsUntil: null, renamedAt: String }], 'neither slug rests')
  })
})

t.test('commands write audit entries to the file of --audit-file', async (t) => {
  const { pool, recruiting, url } = await startCliHost(t)
  const folder = t.testdir({})
  const path = join(folder, 'audit.jsonl')
  const cli = createCli(url, { now: () => 1_767_225_600_000, env: { DATABASE_URL: url, RECRUITING_AUDIT_FILE: path, RECRUITING_ACTOR: 'ops:ann' } })
  const { id } = await recruiting.webhooks.create('acme', { name: 'CRM', target_url: 'https://example.com/', event_types: ['application.created'] })
  await recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {}, subject: 'candidate:42' })
  const { data: [delivery] } = await recruiting.webhooks.listDeliveries('acme', id)
  const key = JSON.parse((await cli(`keys issue --tenant acme --scopes jobs:read --out ${join(folder, 'key')} --yes --json`)).out)
  for (const line of [
    'stats', `webhooks disable ${id} --yes --actor support:bob`, `webhooks enable ${id} --yes`, `deliveries retry ${delivery?.id} --webhook ${id} --yes`,
    `keys revoke ${key.id} --tenant acme --yes`, 'subjects find candidate:42 --tenant acme', 'tenants rename acme globex --yes', 'tenants remove globex --yes'
  ]) t.match(await cli(line), { code: 0 }, line)
  t.match(await cli('webhooks enable 999 --yes'), { code: 1 }, 'rejected commands are not written')
  await pool.query('create table people (id bigint primary key, company text)')
  t.match(await cli('watch --kind candidate --relation people --id id --tenant company'), { code: 0 })
  const file = join(folder, 'webhooks.json')
  const entry = { tenant: 'initech', name: 'CRM', target_url: 'https://example.com/', event_types: ['job.created'], secret: `whsec_${Buffer.alloc(24, 1).toString('base64')}` }
  await writeFile(file, JSON.stringify([entry, { ...entry, target_url: 'http://example.com/' }]))
  t.match(await cli(`webhooks import ${file} --yes`), { code: 1 })
  const { rows: [{ imported }] } = await pool.query('select id::int as imported from recruiting.webhooks')
  // With the option tenantId.
  const issue = `keys issue --tenant 41 --tenant-slug acme --scopes jobs:read --out ${join(folder, 'own')} --yes --json`
  const own = JSON.parse((await cli(`${issue} --audit-file ${join(folder, 'other')}`)).out)
  await pool.query("create function recruiting.reject () returns trigger language plpgsql as $$ begin raise exception 'rejected'; end $$")
  await pool.query('create trigger reject before update on recruiting.api_keys for each row execute function recruiting.reject()')
  t.match(await cli(`keys revoke ${own.id} --tenant 41 --yes`), { code: 1, err: /rejected/ })
  await pool.query("update recruiting.webhooks set secret = 'sealed_v1:x'")
  await writeFile(join(folder, 'keys'), Buffer.alloc(32, 1).toString('hex'))
  t.match(await cli(`reseal --secret-keys ${join(folder, 'keys')}`, { answers: ['n'] }), { code: 1 })
  t.match(await cli(`reseal --secret-keys ${join(folder, 'keys')} --yes`), { code: 1, err: /none of the secretKeys opens/ })
  await pool.query('alter table recruiting.queue rename to gone')
  t.match(await cli('stats'), { code: 1 })
  t.match(await cli('stats --help'), { code: 0, out: /--audit-file FILE +appends a line of JSON about the command to a file; or set RECRUITING_AUDIT_FILE/ })

  const entries = (await readFile(path, 'utf8')).trim().split('\n').map((line) => JSON.parse(line))
  const webhook = { kind: 'webhook', id }
  t.strictSame(entries[0], {
    time: '2026-01-01T00:00:00.000Z',
    source: 'command',
    requestId: null,
    tenantSlug: 'acme',
    tenantId: null,
    address: null,
    keyId: null,
    actor: 'ops:ann',
    operationId: 'keys issue',
    isDeprecated: false,
    isRepeated: false,
    resource: { kind: 'key', id: key.id },
    method: null,
    filters: [],
    status: null,
    rowCount: null
  })
  t.match(entries.slice(-4).map(({ error }) => error), [/^FILE: webhook 2: /, 'rejected', /none of the secretKeys opens/, /queue/])
  const columns = ['actor', 'tenantSlug', 'operationId', 'resource', 'rowCount'] as const
  t.strictSame(entries.slice(1).map((entry) => columns.map((column) => entry[column])), [
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
    ['ops:ann', 'acme', 'keys revoke', { kind: 'key', id: own.id }, null],
    ['ops:ann', null, 'reseal', null, null],
    ['ops:ann', null, 'stats', null, null]
  ])
})

t.test('an invalid actor and an unwritable file make the command fail before it does anything', async (t) => {
  const cli = createCli('postgres://postgres@127.0.0.1:1/nowhere')
  t.strictSame(await cli(['stats', '--actor', 'a\tb']), { code: 2, out: '', err: 'stats: --actor: expected 1 to 128 characters without control characters, got "a\\tb"\n' })
  t.strictSame(await cli('stats --audit-file /nowhere/audit'), { code: 2, out: '', err: 'stats: --audit-file: the file cannot be written (ENOENT)\n' })
})

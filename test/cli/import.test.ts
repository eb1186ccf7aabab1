import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { toLoopback } from '../fixtures/api/webhook-api.js'
import { createCli } from '../fixtures/cli/cli.js'
import { startPostgres } from '../fixtures/postgres/postgres-server.js'
import { createTables } from '../fixtures/postgres/postgres.js'

const secretOf = (byte: number): string => `whsec_${Buffer.alloc(24, byte).toString('base64')}`
const input = { name: 'CRM', target_url: 'https://hooks.example.com/', event_types: ['application.created'] }

t.test('webhooks import', async (t) => {
  const { url, createPool } = await startPostgres(t)
  const { storage } = await createTables(createPool())
  const cli = createCli(url)
  const path = join(t.testdir({}), 'webhooks.json')
  const write = (entries: unknown): Promise<void> => writeFile(path, typeof entries === 'string' ? entries : JSON.stringify(entries))
  const acme = { ...input, filters: { 'data.job_id': [7] }, tenant: 'acme', endpoint: 'ep_1', secret: secretOf(1) }
  const globex = { ...input, tenant: 'globex', tenant_id: '42', event_types: ['offer.signed'], status: 'inactive', secret: secretOf(2) }

  await t.test('creates webhooks with their secrets, and shows the new id of each endpoint', async (t) => {
    await write([acme, globex])
    t.match(await cli(`webhooks import ${path}`, { answers: ['n'] }), { code: 1, out: '' })
    t.equal(await storage.webhooks.count('acme', {}), 0)
    const { code, out, err } = await cli(`webhooks import ${path}`, { answers: ['y'] })
    t.equal(code, 0)
    t.match(err, 'Imports 2 webhooks of 2 tenants with their secrets, for the event types application.created, offer.signed.\n')
    t.match(out, /^endpoint +tenant +id\nep_1 +acme +\d+\n- +globex +\d+\n$/)
    t.notMatch(out + err, 'whsec_')
    const [one] = await storage.webhooks.list('acme', { filter: {}, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: 9 })
    t.match(one, { ...input, status: 'active', filters: { 'data.job_id': [7] } })
    t.strictSame(await storage.webhooks.findSecrets('acme', one?.id ?? 0), [acme.secret])
    t.match(await storage.webhooks.list('42', { filter: {}, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: 9 }), [{ event_types: ['offer.signed'], status: 'inactive' }])
  })

  await t.test('refuses two ids for one tenant', async (t) => {
    await write([globex, { ...globex, tenant_id: '43', secret: secretOf(9) }])
    t.match(await cli(`webhooks import ${path} --yes`), { code: 2, err: 'webhooks import: FILE: webhook 2: expected the tenant_id of webhook 1, which has the same tenant\n' })
    const { tenant_id: _id, ...bare } = globex
    await write([globex, bare])
    t.match(await cli(`webhooks import ${path} --yes`), { code: 2, err: /webhook 2: expected the tenant_id of webhook 1/ })
  })

  await t.test('can be repeated, with other webhooks', async (t) => {
    await write([acme, { ...acme, endpoint: 'ep_2', target_url: 'http://127.0.0.1:9/', secret: secretOf(3) }])
    const before = JSON.parse((await cli('webhooks list --tenant acme --json')).out)
    const { code, out } = await cli(`webhooks import ${path} --json --yes --allow-http --allow-networks 127.0.0.1/32`)
    t.equal(code, 0)
    const [first, second] = JSON.parse(out)
    t.strictSame(first, { endpoint: 'ep_1', tenant: 'acme', id: before[0].id })
    t.not(second.id, first.id)
  })

  await t.test('seals the secrets with the keys of your servers', async (t) => {
    const keys = join(t.testdir({}), 'keys')
    await writeFile(keys, Buffer.alloc(32, 1).toString('hex'))
    await write([{ ...acme, tenant: 'sealed' }])
    const [{ id }] = JSON.parse((await cli(`webhooks import ${path} --json --yes --secret-keys ${keys}`)).out)
    t.match((await storage.webhooks.findSecrets('sealed', id))?.[0], /^sealed_v1:/)
    const recruiting = createRecruiting({ storage, delivery: { worker: false, ...toLoopback }, secretKeys: [Buffer.alloc(32, 1)] })
    t.teardown(() => recruiting.close())
    t.equal((await recruiting.webhooks.import('sealed', { ...input, event_types: ['application.created'], secret: acme.secret })).id, id)
  })

  await t.test('names the webhook of the file that is refused; those before it are imported', async (t) => {
    await write([{ ...acme, tenant: 'initech' }, { ...acme, tenant: 'initech', secret: 'geheim' }])
    const { code, err } = await cli(`webhooks import ${path} --yes`)
    t.equal(code, 1)
    t.match(err, /^webhooks import: FILE: webhook 2: secret: must be whsec_ and 24 to 64 bytes in base64\. Those before it were imported: fix it, then run the command again$/m)
    t.equal(await storage.webhooks.count('initech', {}), 1)
  })

  await t.test('a storage that fails is reported as such', async (t) => {
    await write([acme])
    const pool = createPool()
    await pool.query('alter table recruiting.webhooks rename to hidden')
    const { code, err } = await cli(`webhooks import ${path} --yes`)
    await pool.query('alter table recruiting.hidden rename to webhooks')
    t.equal(code, 1)
    t.match(err, /^webhooks import: relation .* does not exist$/m)
  })

  await t.test('files of another form are wrong usage, and nothing of them is shown', async (t) => {
    const form = 'expected a JSON array of webhooks, each with tenant, name, target_url, event_types and secret'
    for (const content of ['', '{"secret":"whsec_', {}, []]) {
      await write(content)
      t.strictSame(await cli(`webhooks import ${path} --yes`), { code: 2, out: '', err: `webhooks import: FILE: ${form}\n` })
    }
    for (const entry of [null, 'whsec_', {}, { ...acme, tenant: 1 }, { ...acme, tenant_id: 42 }, { ...acme, endpoint: 1 }, { ...acme, event_types: 'x' }, { ...acme, event_types: [1] }]) {
      await write([acme, entry])
      t.match(await cli(`webhooks import ${path} --yes`), { code: 2, out: '', err: /^webhooks import: FILE: webhook 2: expected a string as tenant and an array of strings as event_types/ })
    }
    t.strictSame(await cli('webhooks import /nowhere/file'), { code: 2, out: '', err: 'webhooks import: FILE: the file cannot be read (ENOENT)\n' })
  })
})

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { apiKeys, postgresStorage } from '../../src/postgres/index.js'
import { listMigrations } from '../../src/postgres/migrate.js'
import { createCli } from '../fixtures/cli/cli.js'
import { startPostgres } from '../fixtures/postgres/postgres-server.js'

const keys = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)] as const
const event = { type: 'application.created', data: { id: 1 } } as const
const webhook = { name: 'CRM', target_url: 'https://example.com/', event_types: ['application.created'] }

t.test('upkeep by command', async (t) => {
  const { url, createPool } = await startPostgres(t)
  const pool = createPool()
  const cli = createCli(url)
  const names = await listMigrations()
  const folder = t.testdir({})
  const storage = postgresStorage(pool)
  const recruiting = createRecruiting({ storage, delivery: false, secretKeys: [keys[0]] })
  t.teardown(() => recruiting.close())

  await t.test('before migrate, every other command says so', async (t) => {
    const { code, out, err } = await cli('stats')
    t.strictSame([code, out, err], [1, '', `stats: the schema recruiting lacks the migrations ${names.join(', ')}: run fastify-recruiting-api migrate\n`])
  })

  await t.test('migrate shows what would run, runs it without a question, and then has nothing to do', async (t) => {
    t.strictSame(await cli('migrate --dry-run'), { code: 0, out: names.map((name) => `would run ${name}\n`).join(''), err: '' })
    t.strictSame(await cli('migrate'), { code: 0, out: names.map((name) => `ran ${name}\n`).join(''), err: '' })
    t.strictSame(await cli('migrate'), { code: 0, out: 'nothing to do\n', err: '' })
    t.strictSame(JSON.parse((await cli('migrate --json --schema other')).out), { migrations: names, dryRun: false })
    t.match(await cli('stats --schema other'), { code: 0 })
  })

  await t.test('stats shows the queue', async (t) => {
    await recruiting.webhooks.create('acme', webhook)
    await recruiting.emit({ tenantSlug: 'acme', ...event })
    const { code, out } = await cli('stats')
    t.equal(code, 0)
    t.match(out, /^pending +1\ndue +1\nleased +0\noldest due +\d+ s\n$/)
    t.match(JSON.parse((await cli('stats --json')).out), { pending: 1, due: 1, atLeast: { pending: false, due: false } })
    await pool.query("insert into recruiting.queue (event_seq, webhook_id, lane, due_at, created_at) select -n, (select id from recruiting.webhooks), null, now() + interval '1 day', now() from generate_series(1, 10001) n")
    t.match((await cli('stats')).out, /^pending +10000 or more\n/)
    await pool.query('delete from recruiting.queue where event_seq < 0')
  })

  await t.test('prune deletes what is older than the days that were named', async (t) => {
    for (const days of ['0', '3651', 'x', '1.5']) t.match(await cli(`prune --yes --retention-days ${days}`), { code: 2, err: /^prune: --retention-days: expected an integer/ }, days)
    await recruiting.emit({ tenantSlug: 'old', ...event })
    await pool.query("update recruiting.events set recorded_at = now() - interval '10 days' where tenant_id = (select id from recruiting.tenants where slug = 'old')")
    t.match(await cli('prune --retention-days 11 --yes'), { code: 0, out: 'deleted 0 rows\n' })
    t.strictSame(await cli('prune --retention-days 9'), {
      code: 2, out: '', err: 'Deletes ended deliveries and events that are older than 9 days.\nprune: --yes: missing, and nobody can be asked without a terminal\n'
    })
    t.match(await cli('prune --retention-days 9', { answers: ['y'] }), { code: 0, out: 'deleted 1 rows\n' })
    await recruiting.changed({ tenantSlug: 'acme', kind: 'candidate', id: 1 })
    await pool.query("update recruiting.changes set changed_at = now() - interval '10 days'")
    t.match(await cli('prune --retention-days 9 --changes-retention-days 0 --yes'), { code: 2, err: 'prune: --changes-retention-days: expected an integer from 1 to 3650, got "0"\n' })
    const { err, out } = await cli('prune --retention-days 9 --changes-retention-days 8 --yes')
    t.match(err, 'older than 9 days, and changes that are older than 8.')
    t.match(out, /^deleted [01] rows\n$/)
    t.match(await cli('prune --retention-days 9 --yes --json'), { out: '{\n  "pruned": 0\n}\n' })
  })

  await t.test('reseal encrypts with the first key of the file', async (t) => {
    const path = join(folder, 'keys')
    await writeFile(path, `${keys[1].toString('base64')}\n\n${keys[0].toString('hex')}\n`)
    const { code, out, err } = await cli(`reseal --secret-keys ${path}`, { answers: ['y'] })
    t.strictSame([code, out], [0, 'encrypted 1 secrets\n'])
    t.match(err, `Encrypts every webhook secret with the first key of ${path}.`)
    t.strictSame(JSON.parse((await cli(`reseal --secret-keys ${path} --yes --json`)).out), { resealed: 0 })

    const other = join(folder, 'other')
    await writeFile(other, Buffer.alloc(32, 3).toString('base64'))
    t.match(await cli(`reseal --secret-keys ${other} --yes`), { code: 1, err: /reseal: none of the secretKeys opens the secret of webhook \d+\n$/ })
  })

  await t.test('a file of keys that has none is refused, and nothing of it is shown', async (t) => {
    const path = join(folder, 'bad')
    const files: Array<[content: string, problem: string]> = [
      ['', 'the file has no keys'],
      ['\n \n', 'the file has no keys'],
      ['geheim', 'line 1 is not a key of 32 bytes, as base64 or hexadecimal digits'],
      [`${keys[0].toString('hex')}\n${keys[0].toString('hex').slice(1)}`, 'line 2 is not a key of 32 bytes, as base64 or hexadecimal digits'],
      [`${'!'.repeat(43)}=`, 'line 1 is not a key of 32 bytes, as base64 or hexadecimal digits']
    ]
    for (const [content, problem] of files) {
      await writeFile(path, content)
      t.strictSame(await cli(`reseal --yes --secret-keys ${path}`), { code: 2, out: '', err: `reseal: --secret-keys: ${problem}\n` })
    }
    t.strictSame(await cli('reseal --yes --secret-keys /nowhere'), { code: 2, out: '', err: 'reseal: --secret-keys: the file cannot be read (ENOENT)\n' })
  })

  await t.test('a tenant is renamed, with its keys and the secrets of its webhooks', async (t) => {
    await apiKeys(pool).issue({ tenantSlug: 'acme', scopes: [] })
    const path = join(folder, 'keys')
    const { code, out, err } = await cli(`tenants rename acme initech --secret-keys ${path}`, { answers: ['y'] })
    t.strictSame([code, out], [0, 'renamed acme to initech, with 1 webhooks\n'])
    t.match(err, 'Renames the tenant acme to initech: 1 webhooks, 1 keys, and its events with their deliveries.')
    t.equal((await apiKeys(pool).list({ tenantSlug: 'initech' })).length, 1)
    t.match(await cli('tenants rename acme other --yes'), { code: 1, err: 'tenants rename: the tenant acme has nothing here\n' })
    t.match(await cli('tenants rename initech other --yes'), { code: 1, err: /none of the secretKeys opens the secret/ }, 'without the keys nothing is renamed')
    await apiKeys(pool).issue({ tenantSlug: 'taken', scopes: [] })
    t.match(await cli(`tenants rename initech taken --yes --secret-keys ${path}`), { code: 2, err: /\ntenants rename: TO: expected a tenant without webhooks, events and keys, got one that exists\n$/ })
    t.strictSame(JSON.parse((await cli(`tenants rename initech acme --yes --json --secret-keys ${path}`)).out), { from: 'initech', to: 'acme', webhooks: 1 })
    t.match(await cli(['tenants', 'rename', 'a\nb', 'acme', '--yes']), { code: 2, err: 'tenants rename: FROM: expected a tenant slug of 1 to 100 characters without control characters, got "a\\nb"\n' })
  })

  await t.test('a tenant is removed', async (t) => {
    t.match(await cli('tenants remove acme', { answers: ['n'] }), { code: 1, err: /^Deletes the tenant acme for good: 1 webhooks, 1 keys, and its events/ })
    t.equal((await apiKeys(pool).list({ tenantSlug: 'acme' })).length, 1)
    t.match(await cli('tenants remove acme', { answers: ['y'] }), { code: 0, out: 'removed acme\n' })
    t.equal((await apiKeys(pool).list({ tenantSlug: 'acme' })).length, 0)
    t.match(await cli('tenants remove acme --yes'), { code: 1, err: 'tenants remove: the tenant acme has nothing here\n' })
    t.strictSame(JSON.parse((await cli('tenants remove taken --yes --json')).out), { removed: 'taken' })
  })
})

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { apiKeys, postgresStorage } from '../../src/storages/postgres/index.js'
import { readVersion } from '../../src/storages/postgres/upgrade/version.js'
import { createCli } from '../fixtures/cli/cli.js'
import { startPostgres } from '../fixtures/postgres/postgres-server.js'

const keys = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)] as const
const event = { type: 'application.created', data: { id: 1 } } as const
const webhook = { name: 'CRM', target_url: 'https://example.com/', event_types: ['application.created'] }

t.test('upkeep commands', async (t) => {
  const { url, createPool } = await startPostgres(t)
  const pool = createPool()
  const cli = createCli(url)
  const { migrations, functions } = await readVersion()
  const names = [...migrations.keys(), ...functions.keys()]
  const folder = t.testdir({})
  const storage = postgresStorage(pool)
  const recruiting = createRecruiting({ storage, delivery: false, secretKeys: [keys[0]] })
  t.teardown(() => recruiting.close())

  await t.test('migrate shows pending steps, runs them without confirmation, and then has nothing to do', async (t) => {
    t.strictSame(await cli('migrate --dry-run'), { code: 0, out: names.map((name) => `would run ${name}\n`).join(''), err: '' })
    t.strictSame(await cli('migrate'), { code: 0, out: names.map((name) => `ran ${name}\n`).join(''), err: '' })
    t.strictSame(await cli('migrate'), { code: 0, out: 'nothing to do\n', err: '' })
    t.strictSame(JSON.parse((await cli('migrate --json --schema other')).out), { migrations: names, dryRun: false })
    t.match(await cli('stats --schema other'), { code: 0 })
  })

  await t.test('watch creates triggers on a table, and can run in every deployment', async (t) => {
    await pool.query('create table people (id bigint, company text)')
    const options = ['--kind', 'candidate', '--relation', 'people', '--id', 'id', '--tenant', "coalesce(row.company, 'none')"]
    for (let count = 0; count < 2; count++) {
      t.strictSame(await cli(['watch', ...options]), { code: 0, out: 'people is watched for the kind candidate\n', err: '' })
    }
    t.strictSame(JSON.parse((await cli(['watch', '--json', ...options])).out), { relation: 'people', kind: 'candidate', id: 'id', tenant: "coalesce(row.company, 'none')" })
    t.equal((await pool.query("select from pg_trigger where tgrelid = 'people'::regclass")).rows.length, 4)
    const emit = { type: 'candidate.created', on: 'insert', data: ['id'] }
    t.match(JSON.parse((await cli(['watch', '--json', ...options, '--emit', JSON.stringify(emit)])).out), { emit })
    await pool.query('insert into people values (1)')
    t.match(JSON.parse((await pool.query('select body from recruiting.events')).rows[0].body), { type: 'candidate.created', tenant_slug: 'none', data: { id: 1 } })
    t.match((await cli(['watch', '--sql', ...options])).out, /^create or replace function [^]*create or replace trigger/)
    for (const [line, err] of [
      ['watch --kind candidate --relation people --id id', 'watch: --tenant: missing, add --tenant COLUMN\n'],
      ['watch --kind jobs --relation people --id id --tenant company', 'watch: --kind: expected candidate, job or the kind of an own list: 1 to 32 of a-z, 0-9 and _, beginning with a letter, got "jobs"\n'],
      ['watch --kind job --relation peple --id id --tenant company', 'watch: --relation: there is no table peple that the database user may see\n'],
      ['watch --kind job --relation people --id nr --tenant company', 'watch: --id: public.people has no column nr\n'],
      ['watch --kind job --relation people --id id --tenant company --emit {', 'watch: --emit: expected JSON, such as {"type":"job.updated","when":["status"],"data":["id"]}\n'],
      ['watch --kind job --relation people --id id --tenant company --emit {"type":"job.updated","when":["id"],"data":["id"]}', 'watch: --emit[0]: public.people has no primary key, which an update needs\n']
    ] as const) t.strictSame(await cli(line), { code: 2, out: '', err })
  })

  await t.test('stats shows the queue', async (t) => {
    await recruiting.webhooks.create('acme', webhook)
    await recruiting.emit({ tenantSlug: 'acme', ...event })
    const { code, out } = await cli('stats')
    t.equal(code, 0)
    t.match(out, /^pending +1\ndue +1\nleased +0\noldest due +\d+ s\nsuspended tenants +0\nsubscriptions of agents +0, 0 failing\nmissing from watched tables +nothing\nheld +no\n$/)
    t.match(JSON.parse((await cli('stats --json')).out), { pending: 1, due: 1, atLeast: { pending: false, due: false }, subscriptions: { live: 0, failing: 0, lagMs: 0 } })
    await pool.query(`
      insert into recruiting.queue (event_seq, webhook_id, event_type, due_at, created_at)
      select -n, (select id from recruiting.webhooks), 'job.created', now() + interval '1 day', now()
      from generate_series(1, 10001) n`)
    t.match((await cli('stats')).out, /^pending +10000 or more\n/)
    t.equal((await cli('stats --tenant acme')).out.replaceAll(/ +/g, ' ').replace(/due \d+ s/, 'due n s'), 'pending 10000 or more\noldest due n s\nfailing webhooks 0\ndelivered in the last hour 0\nfailed in the last hour 0\nsuspended no\n')
    t.match(JSON.parse((await cli('stats --tenant nobody --json')).out), { pending: 0, oldestDueMs: 0, failing: 0, delivered: 0, failed: 0 })
    t.match(await cli(['stats', '--tenant', 'a\nb']), { code: 2, err: /^stats: --tenant: expected an integer, or text/ })
    await pool.query('delete from recruiting.queue where event_seq < 0')
  })

  await t.test('subjects find writes a line of JSON for each event about a person', async (t) => {
    const { id } = await recruiting.emit({ tenantSlug: 'acme', ...event, subject: 'candidate:42', subjects: ['job:7'] })
    await recruiting.emit({ tenantSlug: 'acme', ...event, subject: 'candidate:42' })
    for (const options of ['', ' --json']) {
      const { code, out, err } = await cli(`subjects find job:7 --tenant acme${options}`)
      t.strictSame([code, err, out.split('\n').length], [0, '', 2])
      t.match(JSON.parse(out), { eventId: id, eventType: 'application.created', isErased: false, deliveries: [{ webhookName: 'CRM', status: 'pending', attempts: [] }] })
    }
    t.equal((await cli('subjects find candidate:42 --tenant acme')).out.split('\n').length, 3)
    t.strictSame(await cli('subjects find candidate:43 --tenant acme'), { code: 0, out: '', err: '' })
    t.strictSame(await cli(['subjects', 'find', 'a\tb', '--tenant', 'acme']), {
      code: 2, out: '', err: 'subjects find: SUBJECT: expected 1 to 255 characters without control characters, got "a\\tb"\n'
    })
    await recruiting.erase({ tenantSlug: 'acme', subject: 'candidate:42' })
  })

  await t.test('a copy sends notifications once it is adopted', async (t) => {
    t.match(await cli('adopt --yes --deliver --discard'), { code: 2, err: 'adopt: --deliver or --discard: expected one of them\n' })
    for (const option of ['keep-webhooks', 'keep-keys']) {
      t.match(await cli(`adopt --yes --deliver --${option}`), { code: 2, err: `adopt: --${option}: only with --discard\n` })
    }
    t.strictSame(await cli('adopt'), { code: 0, out: 'nothing is held\n', err: '' })
    t.strictSame(await cli('adopt --discard'), { code: 0, out: 'nothing is held\n', err: '' })
    await pool.query('update recruiting.home set system = 1')
    t.match(await cli('stats'), { code: 0, out: /^held +since 20\S+Z, because the database is a copy: see adopt$/m })
    t.match(JSON.parse((await cli('stats --json')).out), { held: { reason: 'copy' } })
    t.match(await cli('adopt --deliver', { answers: ['n'] }), {
      code: 1, err: /^The database is a copy, and nothing has been sent since 20\S+Z\.\nIt has 1 pending delivery, 1 active webhook and \d+ valid keys?\.\nIts pending deliveries will be sent\.\n/
    })
    for (const options of [{}, { answers: [''] }, { answers: ['no'] }]) {
      t.match(await cli('adopt', options), { code: options.answers === undefined ? 2 : 1, err: /^The database is a copy.*\nIt has 1 pending delivery, / })
    }
    t.match(await cli('adopt', { answers: ['discard', 'n'] }), { code: 1, err: /deliver, discard or nothing\? .*\n?.*Every webhook becomes inactive\. Every key is revoked\./ })
    t.match(await cli('stats'), { out: 'because the database is a copy' })
    t.strictSame(JSON.parse((await cli('adopt --deliver --yes --json --environment production')).out), { adopted: { reason: 'copy', pending: 1 } })
    t.match(await cli('adopt --discard --keep-webhooks --keep-keys --environment staging', { answers: ['y'] }), {
      code: 0, out: 'adopted, with 1 pending delivery\n', err: /^The database does not belong to staging, and nothing has been sent since 20\S+Z\.\n.*\nIts pending deliveries will be skipped\. Webhooks stay active\. Keys stay valid\.\n/
    })
    t.match((await storage.deliveries.stats()).pending, 0)
    await recruiting.emit({ tenantSlug: 'acme', ...event })
  })

  await t.test('prune deletes data older than the given days', async (t) => {
    for (const days of ['0', '3651', 'x', '1.5']) t.match(await cli(`prune --yes --retention-days ${days}`), { code: 2, err: /^prune: --retention-days: expected an integer/ }, days)
    await recruiting.emit({ tenantSlug: 'old', ...event })
    await pool.query("update recruiting.events set recorded_at = now() - interval '10 days' where tenant_key = 'old'")
    t.match(await cli('prune --retention-days 11 --yes'), { code: 0, out: 'deleted 0 rows\n' })
    t.strictSame(await cli('prune --retention-days 9'), {
      code: 2, out: '', err: 'Deletes finished deliveries and events older than 9 days.\nprune: --yes: required, because there is no terminal to ask for confirmation\n'
    })
    t.match(await cli('prune --retention-days 9', { answers: ['y'] }), { code: 0, out: 'deleted 1 row\n' })
    await recruiting.changed({ tenantSlug: 'acme', kind: 'candidate', id: 1 })
    await pool.query("update recruiting.changes set changed_at = now() - interval '10 days'")
    t.match(await cli('prune --retention-days 9 --changes-retention-days 0 --yes'), { code: 2, err: 'prune: --changes-retention-days: expected an integer from 1 to 3650, got "0"\n' })
    const { err, out } = await cli('prune --retention-days 9 --changes-retention-days 8 --yes')
    t.match(err, 'older than 9 days, and changes older than 8 days.')
    t.match(out, /^deleted [01] rows\n$/)
    t.match(await cli('prune --retention-days 9 --yes --json'), { out: '{\n  "pruned": 0\n}\n' })
  })

  await t.test('a tenant is suspended and resumed', async (t) => {
    t.match(await cli('tenants resume acme --skip --yes'), { code: 0, out: 'acme is not suspended\n' })
    t.match(await cli('tenants suspended'), { code: 0, out: 'no tenant is suspended\n' })
    t.match(await cli('tenants suspend acme', { answers: ['n'] }), { code: 1, err: /^Suspends the tenant acme: its API requests get 403, and nothing is sent. It has 1 pending delivery.\n/ })
    t.match(await cli('tenants suspend acme --yes'), { code: 0, out: /^acme has been suspended since \d{4}-\S+Z\n$/ })
    t.match(JSON.parse((await cli('tenants suspended --json')).out), [{ tenant: 'acme', pending: 1 }])
    t.match(JSON.parse((await cli('stats --json')).out), { suspendedTenants: 1, due: 0 })
    t.match((await cli('stats --tenant acme')).out, /\nsuspended +since \d{4}-\S+Z: see tenants resume\n$/)
    t.match(await cli('tenants resume acme --yes'), { code: 2, err: /\ntenants resume: --deliver or --skip: expected one of them\n$/ })
    t.match(await cli('tenants resume acme --deliver --skip'), { code: 2, err: /\ntenants resume: --deliver or --skip: expected one of them\n$/ })
    t.match(await cli('tenants resume acme', { answers: ['nothing'] }), { code: 1, err: /tenants resume: nothing was changed\n$/ })
    const { code, out, err } = await cli('tenants resume acme', { answers: ['deliver', 'y'] })
    t.strictSame([code, out], [0, 'resumed acme\n'])
    t.match(err, /^The tenant acme has been suspended since \d{4}-\S+Z. It has 1 pending delivery.\n.*They will be sent.\n/s)
    t.strictSame(await storage.webhooks.listStates(), [])
  })

  await t.test('reseal encrypts with the first key of the file', async (t) => {
    const path = join(folder, 'keys')
    await writeFile(path, `${keys[1].toString('base64')}\n\n${keys[0].toString('hex')}\n`)
    const { code, out, err } = await cli(`reseal --secret-keys ${path}`, { answers: ['y'] })
    t.strictSame([code, out], [0, 'encrypted 1 secret\n'])
    t.match(err, 'Encrypts every webhook secret with the first of the given keys.')
    t.strictSame(JSON.parse((await cli(`reseal --secret-keys ${path} --yes --json`)).out), { resealed: 0 })

    const other = join(folder, 'other')
    await writeFile(other, Buffer.alloc(32, 3).toString('base64'))
    t.match(await cli(`reseal --secret-keys ${other} --yes`), { code: 1, err: /reseal: none of the secretKeys opens the secret of webhook \d+: add the key that sealed it\. To change keys, begin with \[oldKey, newKey\]\n$/ })
  })

  await t.test("a tenant is renamed with its keys and its webhooks' secrets", async (t) => {
    await apiKeys(pool).issue({ tenantSlug: 'acme', scopes: [] })
    const path = join(folder, 'keys')
    const { code, out, err } = await cli(`tenants rename acme initech --secret-keys ${path}`, { answers: ['y'] })
    t.strictSame([code, out], [0, 'renamed acme to initech, with 1 webhook\n'])
    t.match(err, 'Renames the tenant acme to initech: 1 webhook, 1 key, and its events with their deliveries.')
    t.match(err, 'Nothing can use the old name for 61 minutes.')
    t.equal((await apiKeys(pool).list({ tenantSlug: 'initech' })).length, 1)
    t.match(await cli('tenants rename acme other --yes'), { code: 1, err: 'tenants rename: the tenant acme has no webhooks, keys or events\n' })
    await apiKeys(pool).issue({ tenantSlug: 'taken', scopes: [] })
    t.match(await cli(`tenants rename initech taken --yes --secret-keys ${path}`), { code: 2, err: /\ntenants rename: TO: expected a tenant without webhooks, events and keys, got one that exists\n$/ })
    t.strictSame(JSON.parse((await cli(`tenants rename initech hooli --yes --json --secret-keys ${path}`)).out), { from: 'initech', to: 'hooli', webhooks: 1 })
    t.match(await cli(['tenants', 'rename', 'a\nb', 'acme', '--yes']), { code: 2, err: 'tenants rename: FROM: expected a tenant slug of 1 to 100 characters without control characters, got "a\\nb"\n' })
  })

  await t.test('commands name the methods to use for secrets that functions have encrypted', async (t) => {
    const secretKeys = { seal: (plain: Uint8Array) => plain, open: (sealed: Uint8Array) => sealed }
    const byHost = createRecruiting({ storage, delivery: false, secretKeys })
    t.teardown(() => byHost.close())
    const { id } = await byHost.webhooks.create('umbrella', webhook)
    const err =
      /functions sealed the secret of webhook \d+: .* call renameTenant, resealSecrets or webhooks\.sendTest in .*\n$/
    for (const line of ['reseal', 'tenants rename umbrella tyrell']) {
      t.match(await cli(`${line} --secret-keys ${join(folder, 'keys')} --yes`), { code: 1, err })
    }
    await byHost.webhooks.delete('umbrella', id)
  })

  await t.test('a tenant is removed', async (t) => {
    t.match(await cli('tenants remove hooli', { answers: ['n'] }), { code: 1, err: /^Deletes the tenant hooli permanently: 1 webhook, 1 key, and its events/ })
    t.equal((await apiKeys(pool).list({ tenantSlug: 'hooli' })).length, 1)
    t.match(await cli('tenants remove hooli', { answers: ['y'] }), { code: 0, out: 'removed hooli\n' })
    t.equal((await apiKeys(pool).list({ tenantSlug: 'hooli' })).length, 0)
    t.match(await cli('tenants remove hooli --yes'), { code: 1, err: 'tenants remove: the tenant hooli has no webhooks, keys or events\n' })
    t.strictSame(JSON.parse((await cli('tenants remove taken --yes --json')).out), { removed: 'taken' })
  })
})

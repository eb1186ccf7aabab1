import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { postgresKeyLookup, postgresStorage } from '../../src/storages/postgres/index.js'
import { bearer, buildApp } from '../fixtures/api/app.js'
import { toLoopback } from '../fixtures/api/webhook-api.js'
import { storeWebhook } from '../fixtures/api/webhooks.js'
import { createCli, startCliHost } from '../fixtures/cli/cli.js'
import { startPostgres } from '../fixtures/postgres/postgres-server.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'

const event = { tenantSlug: 'acme', type: 'application.created', data: { id: 1 } } as const
const loopback = '--allow-http --allow-networks 127.0.0.1/32'

t.test('webhook commands', async (t) => {
  const { cli, pool, storage, recruiting: { webhooks } } = await startCliHost(t)
  const receiver = await startReceiver(t)
  const input = { name: 'CRM', target_url: receiver.url, event_types: ['application.created'] }

  await t.test("list shows all of a tenant's webhooks", async (t) => {
    for (let count = 0; count < 201; count++) await storage.webhooks.create('many', { ...input, tenantSlug: 'many', id: await storage.webhooks.nextId('many'), secret: 'x', status: 'active' }, { maxPerTenant: 300 })
    const { code, out } = await cli('webhooks list --tenant many')
    t.equal(code, 0)
    const [header, first, ...rest] = out.trimEnd().split('\n')
    t.match(header, /^id +tenant +status +name +address +event types$/)
    t.match(first, new RegExp(`^\\d+ +many +active +CRM +${receiver.url} +application\\.created$`))
    t.equal(rest.length, 200)
    t.equal(JSON.parse((await cli('webhooks list --tenant many --json')).out).length, 201)
    t.match(await cli('webhooks list --tenant many --status inactive'), { code: 0, out: 'no webhooks\n' })
    t.match(await cli('webhooks list --tenant many --status off'), { code: 2, err: 'webhooks list: --status: expected one of active, inactive, disabled, got "off"\n' })
    t.match(await cli(['webhooks', 'list', '--tenant', 'a\nb']), { code: 2, err: /^webhooks list: --tenant: expected an integer, or text of 1 to 200 characters/ })
  })

  await t.test('show shows any tenant\'s webhook by its id, with its health', async (t) => {
    const { id } = await webhooks.create('acme', { ...input, headers: { 'X-Token': 'hidden', 'X-Key': 'hidden' }, filters: { 'data.job_id': [7, '8'] } })
    const { code, out } = await cli(`webhooks show ${id}`)
    t.equal(code, 0)
    for (const line of [/^tenant_slug +acme$/m, /^name +CRM$/m, /^failed_deliveries +0$/m, /^failing_since +-$/m, /^headers +X-Token,X-Key$/m, /^filters +\{"data\.job_id":\[7,"8"\]\}$/m]) t.match(out, line)
    t.notMatch(out, 'hidden')
    t.strictSame(JSON.parse((await cli(`webhooks show ${id} --json`)).out), { tenant_slug: 'acme', tenant_id: 'acme', ...await webhooks.find('acme', id) })
    t.match(await cli('webhooks show 999999'), { code: 1, err: 'webhooks show: ID: there is no webhook 999999\n' })
    for (const wrong of ['acme', '0', '1.5', '1e3', '9999999999999999']) {
      t.strictSame(await cli(`webhooks show ${wrong}`), { code: 2, out: '', err: `webhooks show: ID: expected an id such as 12, got "${wrong}"\n` })
    }
  })

  await t.test('disable and enable show the change and ask for confirmation', async (t) => {
    const { id } = await webhooks.create('acme', input)
    const { code, out, err } = await cli(`webhooks disable ${id}`, { answers: ['y'] })
    t.strictSame([code, out, err], [0, `the webhook ${id} is inactive\n`,
      `Deactivates webhook ${id} "CRM" of acme, ${receiver.url}. Its pending deliveries become skipped; replay can send them later.\nContinue? [y/N] `])
    t.match(await cli(`webhooks disable ${id} --yes`), { code: 1, err: `webhooks disable: ID: the webhook ${id} is already inactive\n` })
    t.match(await cli(`webhooks enable ${id}`, { answers: [''] }), { code: 1 })
    t.match(await webhooks.find('acme', id), { status: 'inactive' })
    t.match(JSON.parse((await cli(`webhooks enable ${id} --yes --json`)).out), { id, status: 'active' })
  })

  await t.test('test sends a notification with the settings of your servers', async (t) => {
    const delivery = { worker: false, ...toLoopback }
    const sealing = createRecruiting({ storage, delivery, secretKeys: [Buffer.alloc(32, 1)] })
    t.teardown(() => sealing.close())
    const { id } = await sealing.webhooks.create('acme', input)
    const path = join(t.testdir({}), 'keys')
    await writeFile(path, Buffer.alloc(32, 1).toString('hex'))
    const options = `${loopback} --secret-keys ${path}`

    t.match(await cli(`webhooks test ${id} ${options}`, { answers: ['n'] }), { code: 1, out: '' })
    t.equal(receiver.requests.length, 0)
    const { code, out, err } = await cli(`webhooks test ${id} ${options}`, { answers: ['y'] })
    t.equal(code, 0)
    t.match(out, /^status +delivered\nresponse_status +204$/m)
    t.match(err, `Sends a test notification to webhook ${id} "CRM" of acme, ${receiver.url}.\n`)
    t.match(JSON.parse(receiver.requests[0]?.body ?? ''), { test: true, tenant_slug: 'acme' })

    t.strictSame(await cli(`webhooks test ${id} --allow-networks here`), {
      code: 2,
      out: '',
      err: `Sends a test notification to webhook ${id} "CRM" of acme, ${receiver.url}.\nwebhooks test: --yes: required, because there is no terminal to ask for confirmation\n`
    }, 'it fails before it opens anything')

    receiver.answer(500)
    t.match(await cli(`webhooks test ${id} ${options} --yes`), { code: 1, out: /^status +failed$/m })
    receiver.answer(204)
    t.match(JSON.parse((await cli(`webhooks test ${id} --yes --json --secret-keys ${path}`)).out), { status: 'failed', error: 'blocked' })
    await pool.query("update recruiting.home set environment = 'production'")
    t.match(JSON.parse((await cli(`webhooks test ${id} --yes --json --secret-keys ${path} --environment staging`)).out), { status: 'failed', error: 'held' })
    t.match(await cli(`webhooks test ${id} --yes ${loopback} --proxy http://127.0.0.1:1 --secret-keys ${path}`), { code: 1, out: /^error +unavailable$/m })
    t.match(await cli(`webhooks test ${id} --yes ${loopback}`), { code: 1, err: /none of the secretKeys opens the secret/ })
    t.match(await cli(`webhooks test ${id} --yes --allow-networks here`), { code: 2, err: /^webhooks test: --allow-networks: expected a CIDR such as 10\.0\.0\.0\/8, got "here"$/m })
  })
})

t.test('a new user gets to a delivered event, rotates the key and repairs an endpoint', async (t) => {
  const { url, createPool } = await startPostgres(t)
  const pool = createPool()
  const cli = createCli(url)
  const folder = t.testdir({})
  const receiver = await startReceiver(t)

  // From an empty database to a delivered event.
  t.match(await cli('migrate'), { code: 0 })
  await pool.query(`
    create view candidates as select 'acme' as tenant_slug, 1::bigint as id, 'Ada'::text as full_name, ''::text as headline, 1::bigint as source_id, 1::bigint as recruiter_id, now() as created_at, now() as updated_at;
    create view jobs as select 'acme' as tenant_slug, 1::bigint as id, 'Nurse'::text as name, 'open'::text as status, now() as created_at, now() as updated_at`)
  t.match(await cli(`keys issue --tenant acme --scopes webhooks:read,webhooks:write --yes --out ${folder}/key`), { code: 0 })
  const key = (await readFile(join(folder, 'key'), 'utf8')).trimEnd()
  const storage = postgresStorage(pool, { candidates: 'public.candidates', jobs: 'public.jobs' })
  const delivery = { ...toLoopback, pollMs: 10, retrySchedule: [0, 3600], responseExcerptBytes: 100 }
  const app = await buildApp(t, { storage, keyLookup: postgresKeyLookup(pool), delivery })
  const call = (method: 'GET' | 'POST', path: string, payload?: object, as = key) =>
    app.inject({ method, url: `/api/v1/public/acme/${path}`, headers: bearer(as), ...(payload === undefined ? {} : { payload }) })
  const created = await call('POST', 'webhooks', { name: 'CRM', target_url: receiver.url, event_types: ['application.created'] })
  const { id } = created.json().data
  await app.recruiting.emit(event)
  await receiver.received(1)
  await app.recruiting.drain()
  t.match(await cli(`deliveries list --webhook ${id}`), { code: 0, out: / delivered +application\.created +evt_\w+ +1 .*\n1 of 1\n$/ })
  t.match(await cli('doctor --candidates public.candidates --jobs public.jobs'), { out: /^ok {7}workers/m })

  // The key is rotated.
  const [{ id: keyId }] = JSON.parse((await cli('keys list --tenant acme --json')).out)
  t.match(await cli(`keys rotate ${keyId} --tenant acme --overlap-seconds 0 --yes --out ${folder}/new`), { code: 0 })
  const newKey = (await readFile(join(folder, 'new'), 'utf8')).trimEnd()
  t.strictSame([(await call('GET', 'webhooks')).statusCode, (await call('GET', 'webhooks', undefined, newKey)).statusCode], [401, 200])

  // The endpoint fails.
  receiver.answer({ status: 500, headers: { 'content-type': 'text/plain' }, body: 'Ada is ill' })
  await app.recruiting.emit(event)
  await receiver.received(2)
  await app.recruiting.drain()
  const failing = await cli('webhooks failing')
  t.match(failing.out, new RegExp(`^${id} +acme +active +20\\S+ +0 +http_status +- +500 +1 +${receiver.url}$`, 'm'))
  t.match(JSON.parse((await cli('webhooks failing --json --limit 5')).out), [{ tenantSlug: 'acme', lastResponseStatus: 500 }])
  t.match(await cli('webhooks failing --limit 0'), { code: 2, err: 'webhooks failing: --limit: expected an integer from 1 to 1000, got "0"\n' })
  const { data: [{ id: deliveryId, event_id: eventId }] } = JSON.parse((await cli(`deliveries list --webhook ${id} --status pending --json`)).out)
  const shown = await cli(`deliveries show ${deliveryId} --webhook ${id}`)
  t.match(shown.out, /^status +pending$/m)
  t.match(shown.out, /^attempt +duration +error +detail +response\n20\S+ +\d+ ms +http_status +- +500$/m)
  t.match(JSON.parse((await cli(`deliveries show ${deliveryId} --webhook ${id} --json`)).out), { id: deliveryId, attempts: [{ error: 'http_status' }] })

  for (const format of ['', ' --json']) {
    t.notMatch((await cli(`deliveries show ${deliveryId} --webhook ${id}${format}`)).out, /tenant_slug|Ada|excerpt/, 'only if asked for')
  }
  const whole = (await cli(`deliveries show ${deliveryId} --webhook ${id} --body`)).out
  t.match(whole, `\n\n{"id":"${eventId}"`)
  t.match(whole, /^attempt +duration +error +detail +response +excerpt\n20\S+ +\d+ ms +http_status +- +500 +Ada is ill$/m)
  t.match(JSON.parse((await cli(`deliveries show ${deliveryId} --webhook ${id} --body --json`)).out), {
    body: /"tenant_slug":"acme"/, attempts: [{ response_excerpt: 'Ada is ill' }]
  })

  // It is repaired and catches up.
  receiver.answer(204)
  t.match(await cli(`deliveries explain evt_1 --webhook ${id}`), { code: 0, out: /^reason +unknown_event$/m })
  t.match(JSON.parse((await cli(`deliveries explain ${eventId} --webhook ${id} --json`)).out), { event_id: eventId, delivery: { event_id: eventId } })

  const retried = await cli(`deliveries retry ${deliveryId} --webhook ${id}`, { answers: ['y'] })
  t.equal(retried.code, 0)
  t.match(retried.err, `Sends the event ${eventId} (application.created) now, to webhook ${id} "CRM" of acme, ${receiver.url}.\n`)
  await receiver.received(3)
  await app.recruiting.drain()
  t.match(await cli('webhooks failing'), { code: 0, out: 'no webhook is failing or disabled\n' })
  t.match((await cli(`deliveries retry ${deliveryId} --webhook ${id} --yes --json`)).err, `(application.created) again, to webhook ${id} "CRM"`)
  await receiver.received(4)

  // Events missed while it was off are replayed.
  t.match(await cli(`webhooks disable ${id} --yes`), { code: 0 })
  await app.recruiting.emit(event)
  const { data: [skipped] } = JSON.parse((await cli(`deliveries list --webhook ${id} --status skipped --json --limit 1`)).out)
  t.match(await cli(`deliveries show ${skipped.id} --webhook ${id}`), { out: /^status +skipped$/m })
  t.match(await cli(`deliveries list --webhook ${id} --event ${skipped.event_id}`), { out: /1 of 1\n$/ })
  t.match(await cli(`deliveries list --webhook ${id} --event none`), { code: 0, out: 'no deliveries\n' })
  t.match(await cli(['deliveries', 'list', '--webhook', `${id}`, '--event', 'a\0b']), { code: 2, err: /^deliveries list: --event: expected the id of an event/ })
  t.match(await cli(`webhooks enable ${id} --yes`), { code: 0 })
  const replayed = await cli(`replay --webhook ${id}`, { answers: ['y'] })
  t.strictSame([replayed.code, replayed.out], [0, 'queued 1 delivery\n'])
  t.match(replayed.err, `Replays 1 undelivered event, from 24 hours ago until now, to webhook ${id} "CRM" of acme, ${receiver.url}.\n`)
  await receiver.received(5)
  await app.recruiting.drain()
  t.match(await cli(`replay --webhook ${id}`), { code: 0, out: 'there is nothing to replay\n', err: '' })
  t.match(await cli(`replay --webhook ${id} --include all`, { answers: ['n'] }), { code: 1, err: /^Replays 3 events, from 24 hours ago until now, / })
  t.equal(receiver.requests.length, 5)
  t.match(JSON.parse((await cli(`replay --webhook ${id} --include all --since 2020-01-01T00:00:00Z --until 2090-01-01T00:00:00Z --yes --json`)).out), { queued: 3, truncated: false })

  // Invalid input is rejected.
  t.match(await cli(`replay --webhook ${id} --since yesterday --yes`), { code: 2, err: /^replay: --since: / })
  t.match(await cli('replay --webhook 999 --yes'), { code: 1, err: 'replay: --webhook: there is no webhook 999\n' })
  t.match(await cli(`deliveries show 999 --webhook ${id}`), { code: 1, err: `deliveries show: ID: the webhook ${id} has no delivery 999\n` })
  t.match(await cli(`webhooks disable ${id} --yes`), { code: 0 })
  t.match(await cli(`deliveries retry ${deliveryId} --webhook ${id} --yes`), { code: 1, err: new RegExp(`--webhook: the webhook ${id} is not active: run fastify-recruiting-api webhooks enable ${id}\n$`) })
  t.match(await cli(`replay --webhook ${id} --yes`), { code: 1, err: `replay: --webhook: the webhook ${id} is inactive: run fastify-recruiting-api webhooks enable ${id}\n` })
})

t.test('a replay reports when there are more events than one call can queue', async (t) => {
  const { cli, pool, recruiting } = await startCliHost(t)
  const { id } = await recruiting.webhooks.create('acme', { name: 'CRM', target_url: 'https://example.com/', event_types: ['application.created'] })
  await recruiting.emit(event)
  await pool.query(`insert into recruiting.events (id, tenant_key, type, body, fingerprint, recorded_at)
    select 'evt_' || n, tenant_key, type, body, fingerprint, now() from recruiting.events, generate_series(1, 10001) n`)
  t.match(await cli(`replay --webhook ${id} --include all --yes`), {
    code: 0,
    err: /^Replays the oldest 10000 events, from /,
    out: 'queued 10000 deliveries\nThere are more: run the command again. With --include all, use a later --since.\n'
  })
})

const secretOf = (byte: number): string => `whsec_${Buffer.alloc(24, byte).toString('base64')}`
const input = { name: 'CRM', target_url: 'https://hooks.example.com/', event_types: ['application.created'] }

t.test('webhooks import', async (t) => {
  const { cli, storage } = await startCliHost(t)
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

  await t.test('encrypts the secrets with the keys of your servers', async (t) => {
    const keys = join(t.testdir({}), 'keys')
    await writeFile(keys, Buffer.alloc(32, 1).toString('hex'))
    await write([{ ...acme, tenant: 'sealed' }])
    const [{ id }] = JSON.parse((await cli(`webhooks import ${path} --json --yes --secret-keys ${keys}`)).out)
    t.match((await storage.webhooks.findSecrets('sealed', id))?.[0], /^sealed_v1:/)
    const delivery = { worker: false, ...toLoopback }
    const recruiting = createRecruiting({ storage, delivery, secretKeys: [Buffer.alloc(32, 1)] })
    t.teardown(() => recruiting.close())
    t.equal((await recruiting.webhooks.import('sealed', { ...input, event_types: ['application.created'], secret: acme.secret })).id, id)
  })

  await t.test('imports previous signatures, and warns of hexadecimal secrets', async (t) => {
    const legacy = { header: 'X-Hub-Signature-256', template: 'sha256={signature}', secret: 'text', until: '2999-01-01T00:00:00Z' }
    const secret = `whsec_${'0a'.repeat(24)}`
    await write([{ ...input, tenant: 'hooli', secret }, { ...input, tenant: 'hooli', legacy }, { ...input, tenant: 'hooli', secret: secretOf(3), legacy }])
    const { code, out, err } = await cli(`webhooks import ${path} --yes --json`)
    t.equal(code, 0)
    t.same(err.match(/FILE: webhook \d: check the secret: it is hexadecimal/g), ['FILE: webhook 1: check the secret: it is hexadecimal'])
    const ids = JSON.parse(out).map(({ id }: { id: number }) => id)
    t.match(await storage.webhooks.findHeaders('hooli', ids[1]), /"secret":"text".*"algorithm":"sha256"/)
    t.match(await storage.webhooks.find('hooli', ids[1]), { headers: null })
  })

  await t.test('names the first invalid webhook in the file; earlier ones are imported', async (t) => {
    await write([{ ...acme, tenant: 'initech' }, { ...acme, tenant: 'initech', secret: 'geheim' }])
    const { code, err } = await cli(`webhooks import ${path} --yes`)
    t.equal(code, 1)
    t.match(err, /^webhooks import: FILE: webhook 2: secret: must be whsec_ and 24 to 64 bytes in base64\. Earlier entries were imported: fix it, then run the command again$/m)
    t.equal(await storage.webhooks.count('initech', {}), 1)
  })

  await t.test('files in another form are wrong usage, and their content is not shown', async (t) => {
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

t.test('webhooks of all tenants are listed, deactivated and deleted', async (t) => {
  const { cli: run, storage, pool } = await startCliHost(t)
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

import { createHash } from 'node:crypto'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { isApiKey } from '../../src/index.js'
import { apiKeys, postgresKeyLookup, postgresStorage } from '../../src/storages/postgres/index.js'
import { createWebhook, firstRows } from '../../src/tools/testing/support/samples.js'
import { startCliHost } from '../fixtures/cli/cli.js'

t.test('key commands', async (t) => {
  const { cli, pool } = await startCliHost(t)
  const keys = apiKeys(pool)
  const lookup = postgresKeyLookup(pool)
  const folder = t.testdir({ taken: 'mine' })
  const count = async (): Promise<number> => (await pool.query('select from recruiting.api_keys')).rows.length

  t.test('a key is issued after confirmation, and shown once on the terminal', async (t) => {
    const { code, out, err } = await cli('keys issue --tenant acme --scopes candidates:read,jobs:read --name CRM --created-by ada --expires-at 2090-01-01T00:00:00Z', { answers: ['y'] })
    t.equal(code, 0)
    t.equal(err, 'Issues a key for the tenant acme with the scopes candidates:read, jobs:read.\nContinue? [y/N] It cannot be shown again.\n')
    const [key = ''] = out.split('\n')
    t.ok(isApiKey(key))
    const found = await lookup({ tenantSlug: 'acme', tenantId: 'acme', key })
    t.match(found, { scopes: ['candidates:read', 'jobs:read'] })
    const stored = await keys.find({ tenantSlug: 'acme' }, found?.id ?? '')
    t.match(stored, { name: 'CRM', createdBy: { type: 'code', id: 'ada' }, expiresAt: '2090-01-01T00:00:00.000Z' })
    t.match(out, new RegExp(`^id +${stored?.id}$`, 'm'))
    t.match(out, /^lastUsedAt +-$/m)
  })

  t.test('a key is written only to a terminal or a file', async (t) => {
    const before = await count()
    t.strictSame(await cli('keys issue --tenant acme --scopes jobs:read --yes'), {
      code: 2, out: '', err: 'keys issue: --out: required, because secrets are only shown on a terminal; add --out FILE\n'
    })
    for (const surroundings of [{}, { answers: [] }]) {
      t.strictSame(await cli('keys issue --tenant acme --scopes jobs:read --yes --json', surroundings), {
        code: 2, out: '', err: 'keys issue: --out: required, because --json never shows a secret; add --out FILE\n'
      })
    }
    t.equal(await count(), before)

    const path = join(folder, 'key')
    const { code, out, err } = await cli(`keys issue --tenant acme --scopes jobs:read --prefix acmeats --yes --json --out ${path}`)
    t.strictSame([code, err], [0, 'Issues a key for the tenant acme with the scopes jobs:read.\n'])
    const key = (await readFile(path, 'utf8')).trimEnd()
    t.ok(isApiKey(key, 'acmeats'))
    t.equal((await stat(path)).mode & 0o777, 0o600)
    const { id } = JSON.parse(out)
    t.strictSame(JSON.parse(out), await keys.find({ tenantSlug: 'acme' }, id))
    t.notMatch(out, key)
  })

  t.test('an existing or unwritable file is rejected before anything changes', async (t) => {
    const before = await count()
    t.match(await cli(`keys issue --tenant acme --scopes jobs:read --yes --out ${folder}/taken`), { code: 2, err: 'keys issue: --out: the file already exists, choose another name\n' })
    t.match(await cli(`keys issue --tenant acme --scopes jobs:read --yes --out ${folder}/no/folder`), { code: 2, err: 'keys issue: --out: the file cannot be created (ENOENT)\n' })
    t.equal(await readFile(join(folder, 'taken'), 'utf8'), 'mine')
    t.equal(await count(), before)
  })

  t.test('a rejected key leaves no file, and the message names the option', async (t) => {
    const path = join(folder, 'rejected')
    const rejected: Array<[options: string, message: RegExp]> = [
      ['--tenant acme --scopes jobs:read,', /^keys issue: --scopes: expected an array of scopes such as candidates:read, got an array$/],
      ['--tenant acme --scopes jobs:read --expires-at tomorrow', /^keys issue: --expires-at: expected a valid Date or an RFC 3339 date-time, got "tomorrow"$/],
      ['--tenant acme --scopes jobs:read --prefix Acme', /^keys issue: --prefix: expected 2 to 16 characters/],
      ['--tenant acme --scopes jobs:read --schema pg_mine', /^keys issue: --schema: expected /]
    ]
    for (const [options, message] of rejected) {
      const { code, err } = await cli(`keys issue ${options} --yes --out ${path}`)
      t.equal(code, 2, options)
      t.match(err.trimEnd().split('\n').at(-1), message)
      await t.rejects(stat(path), { code: 'ENOENT' })
    }
    const long = await cli(['keys', 'issue', '--tenant', 'a\nb', '--scopes', 'jobs:read', '--yes', '--out', path])
    t.match(long, { code: 2, err: /^keys issue: --tenant: expected an integer, or text of 1 to 200 characters/ })
  })

  t.test("a tenant's keys are listed with their states", async (t) => {
    const input = { tenantSlug: 'list', scopes: ['jobs:read', 'webhooks:read'] }
    const valid = await keys.issue({ ...input, name: 'CRM' })
    const expired = await keys.issue({ ...input, expiresAt: '2020-01-01T00:00:00Z' })
    const revoked = await keys.issue(input)
    await keys.revoke({ tenantSlug: 'list' }, revoked.id)
    const { code, out } = await cli('keys list --tenant list')
    t.equal(code, 0)
    const lines = out.trimEnd().split('\n')
    t.match(lines[0], /^id +start +state +name +scopes +last used +expires +limits$/)
    for (const [index, { id, start }, state] of [[1, valid, 'valid'], [2, expired, 'expired'], [3, revoked, 'revoked']] as const) {
      t.match(lines[index], new RegExp(`^${id} +${start} +${state} +.*jobs:read,webhooks:read +- `))
    }
    t.equal(lines.length, 4)
    t.strictSame(JSON.parse((await cli('keys list --tenant list --json')).out), await keys.list({ tenantSlug: 'list' }))
    t.strictSame(await cli('keys list --tenant nobody'), { code: 0, out: 'no keys\n', err: '' })
  })

  t.test('a key is limited to networks and fields, and the list shows it', async (t) => {
    const path = join(folder, 'limited')
    const { code, err } = await cli(`keys issue --tenant limited --scopes candidates:read --allowed-ips 203.0.113.0/24,::1/128 --candidate-fields full_name,headline --job-fields name --yes --out ${path}`)
    const limits = 'addresses 203.0.113.0/24, ::1/128; candidate fields full_name, headline; job fields name'
    t.strictSame([code, err], [0, `Issues a key for the tenant limited with the scopes candidates:read, limited to ${limits}.\n`])
    t.match((await cli('keys list --tenant limited')).out.split('\n')[1], new RegExp(` ${limits}$`))
    t.match(JSON.parse((await cli('keys list --tenant limited --json')).out), [{ allowedIps: ['203.0.113.0/24', '::1/128'], candidateFields: ['full_name', 'headline'], jobFields: ['name'] }])
    t.match(await cli(`keys issue --tenant limited --scopes jobs:read --allowed-ips 10.0.0.0 --yes --out ${path}-2`), {
      code: 2, err: /\nkeys issue: --allowed-ips: expected a CIDR such as 203\.0\.113\.0\/24 or 203\.0\.113\.7\/32, got "10\.0\.0\.0"\n$/
    })
  })

  t.test('a scope that no route has is rejected, unless ownScopes contains it', async (t) => {
    const path = join(folder, 'scoped')
    const issue = (options: string) => cli(`keys issue --tenant scoped ${options} --yes --out ${path}`)
    t.match(await issue('--scopes candidates:raed'), { code: 2, err: /\nkeys issue: --scopes: expected a scope of a route, such as candidates:read, got "candidates:raed"\n$/ })
    t.match(await issue('--scopes notes:read'), { code: 2 })
    t.match(await issue('--scopes notes:read --own-scopes notes:,'), { code: 2, err: /^keys issue: --own-scopes: expected an array of scopes/ })
    t.match(await issue('--scopes notes:read,jobs:read --own-scopes notes:read,notes:write'), { code: 0 })
  })

  t.test('a key is rotated: the old one works for the overlap', async (t) => {
    const old = await keys.issue({ tenantSlug: 'acme', scopes: ['jobs:read'] })
    const path = join(folder, 'rotated')
    const { code, err } = await cli(`keys rotate ${old.id} --tenant acme --overlap-seconds 60 --yes --out ${path}`)
    t.strictSame([code, err], [0, `Replaces the key ${old.id} of the tenant acme with a key that begins with rk_. The old key expires in 60 seconds.\n`])
    const key = (await readFile(path, 'utf8')).trimEnd()
    t.match([await lookup({ tenantSlug: 'acme', tenantId: 'acme', key }), await lookup({ tenantSlug: 'acme', tenantId: 'acme', key: old.key })], [{ scopes: ['jobs:read'] }, { id: old.id }])
    const again = await cli(`keys rotate ${old.id} --tenant acme`, { answers: ['yes'] })
    t.match(again, { code: 0, err: /The old key expires in 86400 seconds/ })
    const { err: named } = await cli(`keys rotate ${old.id} --tenant acme --prefix acmeats --yes --out ${path}-2`)
    t.match([named, await readFile(`${path}-2`, 'utf8')], [/with a key that begins with acmeats_\. /, /^acmeats_/])
    t.match((await cli('keys rotate --help')).out, 'the prefix of the new key, because the old prefix is not stored; the default is rk')
  })

  t.test('revoking a key asks what happens to the keys and webhooks that it created', async (t) => {
    const { id } = await keys.issue({ tenantSlug: 'acme', scopes: [], name: 'Leaked' })
    const createdBy = { type: 'key', id } as const
    const { store } = lookup
    const child = await store?.create('acme', {
      id: 'key_child',
      digest: 'digest',
      start: 'abcd',
      createdBy,
      tenantSlug: 'acme',
      name: 'Child',
      scopes: [],
      allowedIps: null,
      candidateFields: null,
      jobFields: null,
      expiresInDays: 7
    }, { maxKeys: 1000 })
    t.match(child, { id: 'key_child' })
    const { webhooks } = postgresStorage(pool)
    for (const creator of [createdBy, { type: 'key', id: 'key_child' }, { type: 'code', id }] as const) {
      await webhooks.create('acme', { ...createWebhook(await webhooks.nextId('acme')), created_by: creator }, { maxPerTenant: 50 })
    }
    const statuses = async () => (await webhooks.list('acme', firstRows)).map(({ status }) => status)
    const kept = await cli(`keys revoke ${id} --tenant acme`, { answers: ['y'] })
    t.match(kept, { code: 0, err: /immediately\. The 1 valid key that it created will stay valid, unless you add --children\. The 1 webhook of the key will stay/ })
    t.strictSame(await statuses(), ['active', 'active', 'active'])
    const ended = await cli(`keys revoke ${id} --tenant acme --children --disable-webhooks --yes`)
    t.match(ended, { code: 0, err: /The 1 valid key that it created will be revoked too\. The 2 webhooks of these keys will become inactive\.\n$/ })
    t.strictSame(await statuses(), ['inactive', 'inactive', 'active'])
    t.match(await keys.find({ tenantSlug: 'acme' }, 'key_child'), { revokedAt: /Z$/ })
  })

  t.test('a key is revoked after confirmation', async (t) => {
    const { id, key } = await keys.issue({ tenantSlug: 'acme', scopes: [], name: 'CRM' })
    const { code, out, err } = await cli(`keys revoke ${id} --tenant acme`, { answers: ['Y'] })
    t.strictSame([code, out, err], [0, `revoked ${id}\n`, `Revokes the key ${id} "CRM" of the tenant acme immediately.\nContinue? [y/N] `])
    t.equal(await lookup({ tenantSlug: 'acme', tenantId: 'acme', key }), null)
    t.match(await cli(`keys revoke ${id} --tenant acme --yes`), { code: 1, err: new RegExp(`^keys revoke: ${id}: the key was already revoked at 20`) })
    const unnamed = await keys.issue({ tenantSlug: 'acme', scopes: [] })
    const json = await cli(`keys revoke ${unnamed.id} --tenant acme --yes --json`)
    t.match(json.err, /\(without a name\)/)
    t.match(JSON.parse(json.out), { id: unnamed.id, revokedAt: /Z$/ })
  })

  t.test("unknown keys, another tenant's keys and invalid keys are rejected", async (t) => {
    const { id } = await keys.issue({ tenantSlug: 'acme', scopes: [] })
    for (const action of ['rotate', 'revoke']) {
      for (const [given, tenant] of [['key_none', 'acme'], [id, 'globex']]) {
        t.strictSame(await cli(`keys ${action} ${given} --tenant ${tenant} --yes`), {
          code: 1, out: '', err: `keys ${action}: ${given}: the tenant ${tenant} has no such key\n`
        })
      }
      t.match(await cli(`keys ${action} ${id} --yes`), { code: 2, err: /--tenant: missing, add --tenant ID/ })
    }
    t.match(await keys.find({ tenantSlug: 'acme' }, id), { revokedAt: null, expiresAt: null })
    await keys.revoke({ tenantSlug: 'acme' }, id)
    t.match(await cli(`keys rotate ${id} --tenant acme`, { answers: ['y'] }), { code: 1, out: '', err: /\] keys rotate: ID: the tenant has no valid key with this id\n$/ })
    t.match(await cli(`keys rotate ${id} --tenant acme --overlap-seconds -5 --yes`), { code: 2, err: 'keys rotate: --overlap-seconds: needs a value, --overlap-seconds SECONDS\n' })
    t.match(await cli(`keys rotate ${id} --tenant acme --overlap-seconds=-5 --yes`), { code: 2, err: 'keys rotate: --overlap-seconds: expected an integer, got "-5"\n' })
    t.match(await cli(`keys rotate ${id} --tenant acme --overlap-seconds 99999999999 --yes --out ${folder}/x`), { code: 2, err: /keys rotate: --overlap-seconds: expected an integer from 0 to 31536000, got 99999999999\n$/ })
  })

  t.test('of several wrong options, the error names one: the prefix, then the tenant, then the overlap', async (t) => {
    const wrong = [
      ['prefix', '1', 'expected 2 to 16 characters'],
      ['tenant', 'a'.repeat(201), 'expected an integer, or text'],
      ['overlap-seconds', 'x', 'expected an integer, got']
    ] as const
    for (const [index, [name, , expected]] of wrong.entries()) {
      const right = { prefix: 'rk', tenant: 'acme', 'overlap-seconds': '60' }
      const given = Object.entries({ ...right, ...Object.fromEntries(wrong.slice(index)) })
      const options = given.map(([option, value]) => `--${option} ${value}`)
      const { code, err } = await cli(`keys rotate key_none ${options.join(' ')}`)
      t.equal(code, 2)
      t.ok(err.startsWith(`keys rotate: --${name}: ${expected}`), err)
    }
  })

  t.test('if writing the file fails, no key is stored and no file is left', async (t) => {
    const path = join(folder, 'broken')
    await pool.query("create function recruiting.reject () returns trigger language plpgsql as $$ begin raise exception 'no more keys'; end $$")
    await pool.query('create constraint trigger late after insert on recruiting.api_keys deferrable initially deferred for each row execute function recruiting.reject()')
    t.teardown(() => pool.query('drop trigger late on recruiting.api_keys'))
    const before = await count()
    const { code, err } = await cli(`keys issue --tenant acme --scopes jobs:read --yes --out ${path}`)
    t.equal(code, 1)
    t.match(err, /\nkeys issue: no more keys\n$/)
    await t.rejects(stat(path), { code: 'ENOENT' })
    t.equal(await count(), before)
    await writeFile(path, 'free again')
  })
})

t.test('existing keys are imported as text or digest, and continue to work', async (t) => {
  const { cli, pool } = await startCliHost(t)
  const path = join(t.testdir({}), 'keys.json')
  const lookup = postgresKeyLookup(pool)
  const run = async (entries: unknown) => {
    await writeFile(path, JSON.stringify(entries))
    return cli(`keys import ${path}`, { answers: ['y'] })
  }
  const [text, hashed] = ['live.0123456789abcdef', 'sk-0123456789abcdef==']
  const digest = createHash('sha256').update(hashed).digest()
  const entries = [
    { tenant: 'acme', key: text, scopes: ['jobs:read'], name: 'CRM', expires_at: '2090-01-01T00:00:00Z', allowed_ips: ['203.0.113.0/24'] },
    { tenant: 'globex', tenant_id: '41', sha256: digest.toString('base64'), scopes: ['candidates:read'] }
  ]
  for (let count = 0; count < 2; count++) {
    const { code, out, err } = await run(entries)
    t.match([code, err], [0, /^Imports 2 keys of 2 tenants\. Only their digests are stored\.\n/])
    t.match(out, /^tenant +id\nacme +key_\w+\nglobex +key_\w+\n$/)
  }
  t.equal((await pool.query('select from recruiting.api_keys')).rows.length, 2, 'a repeated import adds none')
  t.match(await lookup({ tenantSlug: 'acme', tenantId: 'acme', key: text }), { scopes: ['jobs:read'], allowedIps: ['203.0.113.0/24'] })
  t.match(await lookup({ tenantSlug: 'globex', tenantId: '41', key: hashed }), { scopes: ['candidates:read'] })
  t.match(await apiKeys(pool).list({ tenantId: '41' }), [{ start: null, tenantSlug: 'globex' }])
  t.match(await run([{ ...entries[1], sha256: digest.toString('hex').toUpperCase() }]), { code: 0 }, 'the same key in hexadecimal')

  const [first] = entries
  for (const [entry, problem] of [
    [{ ...first, tenant: 'globex' }, 'key: expected a key that no other tenant has'],
    ...[undefined, null, {}].map((tenant) => [{ ...first, tenant }, 'tenant: expected '] as const),
    [{ ...first, key: undefined }, 'key: expected either key or sha256'],
    [{ ...first, sha256: digest.toString('hex') }, 'key: expected either key or sha256'],
    [{ ...first, key: 'short' }, 'key: expected 16 to 512 characters of A-Z a-z 0-9 - . _ ~ + /, then any =, got "short"'],
    [{ ...first, key: undefined, sha256: '$2b$10$abc' }, 'sha256: expected a SHA-256 as 64 hexadecimal digits or in base64, got "$2b$10$abc"'],
    [{ ...first, scopes: ['job:read'] }, 'scopes: expected a scope of a route, such as jobs:read, got "job:read"'],
    [{ ...first, tennant: 'acme' }, 'tennant: expected a known name such as tenant, got "tennant"']
  ] as const) t.match(await run([entries[1], entry]), { code: 1, err: new RegExp(`keys import: FILE: key 2: ${problem.replace(/[$.+()/]/g, '\\$&')}`) })
  t.match(await run({}), { code: 2, err: 'keys import: FILE: expected a JSON array of keys, each with tenant, key or sha256, and scopes\n' })
})

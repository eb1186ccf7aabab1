import t from 'tap'
import { apiScopes, type AuditEntry, hashApiKey, isApiKey } from '../../../src/index.js'
import { type ApiKeysOptions, apiKeys, postgresKeyLookup } from '../../../src/storages/postgres/index.js'
import { begin, startPostgresHost } from '../../fixtures/postgres/postgres.js'

const schema = 'keys'
const { pool } = await startPostgresHost(t, { schema })
const open = (options: ApiKeysOptions = {}) => apiKeys(pool, { schema, ...options })
const keys = open()
const lookup = postgresKeyLookup(pool, { schema })
const lookUp = (key: string, tenantId = 'acme', tenantSlug = tenantId) => lookup({ tenantSlug, tenantId, key })
const acme = { tenantSlug: 'acme' }
const issue = (input: object = {}) => keys.issue({ ...acme, scopes: ['jobs:read'], ...input })
const rows = async (): Promise<unknown[]> => (await pool.query('select * from keys.api_keys order by id')).rows

t.test("only a key's digest and the 4 characters after the prefix are stored", async (t) => {
  const { id, key, start } = await open({ prefix: 'acmeats' }).issue({ ...acme, scopes: [] })
  const { rows: [row] } = await pool.query('select k::text as all_of_it from keys.api_keys k where id = $1', [id])
  t.ok(isApiKey(key, 'acmeats'))
  t.equal(start, key.slice(8, 12))
  t.match(row.all_of_it, hashApiKey(key))
  t.match(row.all_of_it, `,${start},`)
  t.notMatch(row.all_of_it, key.slice(8, 13))
  t.notMatch(row.all_of_it, key.slice(12))
  t.equal(await lookUp(hashApiKey(key)), null, 'the digest is not a key')
})

const limits = {
  allowedIps: ['203.0.113.0/24', '::1/128'], candidateFields: ['full_name', 'Größe, "x"'], jobFields: []
}

t.test('a key is issued with all its fields, and later returned without the key itself', async (t) => {
  const umbrella = { tenantSlug: 'umbrella' }
  const scopes = ['webhooks:write', 'jobs:read']
  const expiresAt = '2030-01-01T01:00:00+01:00'
  const { key, ...stored } = await issue({
    ...umbrella, ...limits, scopes, name: 'CRM sync', createdBy: 'ada@example.com', expiresAt
  })
  t.match(key, /^rk_\w{49}$/)
  t.strictSame(stored, {
    id: stored.id,
    tenantSlug: 'umbrella',
    tenantId: 'umbrella',
    name: 'CRM sync',
    scopes,
    ...limits,
    start: key.slice(3, 7),
    createdAt: stored.createdAt,
    createdBy: { type: 'code', id: 'ada@example.com' },
    expiresAt: '2030-01-01T00:00:00.000Z',
    lastUsedAt: null,
    revokedAt: null
  })
  t.match(stored.createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  t.match(stored.id, /^key_[0-9a-f]{32}$/)
  t.strictSame(await lookUp(key, 'umbrella'), { id: stored.id, scopes, ...limits, name: 'CRM sync', expiresAt: stored.expiresAt })
  t.strictSame(await keys.find(umbrella, stored.id), stored)
  const { key: other, ...plain } = await issue({
    ...umbrella, name: null, allowedIps: null, jobFields: ['name'], expiresAt: new Date('2031-01-01T00:00:00Z')
  })
  t.match(plain, { name: null, createdBy: { type: 'code', id: null }, allowedIps: null, expiresAt: '2031-01-01T00:00:00.000Z' })
  t.strictSame(await lookUp(other, 'umbrella'), {
    id: plain.id, scopes: ['jobs:read'], jobFields: ['name'], expiresAt: plain.expiresAt
  })
  t.strictSame(await keys.list(umbrella), [stored, plain], 'oldest first')
  t.strictSame(await keys.list({ tenantSlug: 'nobody' }), [])
  t.equal(await keys.find(acme, 'key_none'), null)
})

t.test('a revoked key is still listed', async (t) => {
  const { id } = await issue()
  t.equal(await keys.revoke(acme, id), true)
  t.match(await keys.find(acme, id), { id, revokedAt: /Z$/ })
  t.equal(await keys.revoke(acme, id), false)
  t.equal(await keys.revoke(acme, 'key_none'), false)
})

t.test('issued, rotated and revoked keys are audited, with the actor', async (t) => {
  const entries: AuditEntry[] = []
  const audited = open({ onAudit: (entry) => { entries.push(entry) } })
  const { id } = await audited.as('ops:ann').issue({ ...acme, scopes: [] })
  const { id: next } = await audited.rotate({ tenantId: 'acme' }, id)
  await audited.as('ops:bob').revoke(acme, next)
  await audited.revoke(acme, next)
  t.strictSame(
    entries.map((entry) => [entry.actor, entry.operationId, entry.tenantSlug, entry.tenantId, entry.resource]),
    [
      ['ops:ann', 'issueKey', 'acme', 'acme', { kind: 'key', id }],
      [null, 'rotateKey', 'acme', 'acme', { kind: 'key', id }],
      ['ops:bob', 'revokeKey', 'acme', 'acme', { kind: 'key', id: next }]
    ]
  )
  t.throws(() => audited.as(''), { code: 'invalid_input', field: 'actor' })
})

t.test('invalid input for a key is rejected and changes nothing', async (t) => {
  const { id } = await issue()
  const before = await rows()
  const wrong: Record<string, unknown[]> = {
    tenantSlug: ['', 'x'.repeat(101), 'a\nb', '\ud800', 5],
    tenantId: ['', 'x'.repeat(201), 'a\nb', '\ud800', 1.5, null, {}],
    scopes: ['jobs:read', [''], ['a b'], [5], null, ['candidates:raed']],
    allowedIps: ['10.0.0.0/8', [], Array.from({ length: 101 }, () => '10.0.0.0/8'), {}],
    candidateFields: ['full_name', [''], [5], ['a\nb'], Array.from({ length: 201 }, (_, at) => `field_${at}`), {}],
    jobFields: ['name', [null]],
    expiresAt: ['2026-01-01', 'tomorrow', new Date(Number.NaN), 5],
    name: ['', 'a\0b', 'x'.repeat(256), 5],
    createdBy: ['', '\ud800', {}],
    expires: [new Date()]
  }
  for (const [field, values] of Object.entries(wrong)) {
    for (const value of values) await t.rejects(issue({ [field]: value }), { code: 'invalid_input', field }, field)
  }
  for (const input of [null, 'acme', []]) await t.rejects(keys.issue(input as never), { code: 'invalid_input' })
  const unreadable = { get tenantSlug (): string { throw new Error('unreadable') }, scopes: [] }
  await t.rejects(keys.issue(unreadable), { message: 'unreadable' })

  const calls = [keys.find, keys.revoke, keys.rotate]
  for (const key of ['', 5, 'a\0b', undefined]) {
    const error = { code: 'invalid_input', field: 'id' }
    for (const call of calls) await t.rejects(async () => call(acme, key as never), error)
  }
  const tenants: Array<[field: string, message: RegExp, values: unknown[]]> = [
    ['tenant', /^tenant: expected an object with tenantSlug or tenantId, got /, [undefined, null, id, 5, []]],
    ['tenant', /^tenant: expected a known name/, [{ tenant: 'acme' }]],
    ['tenantSlug', /./, [{}, { tenantId: undefined }, { tenantSlug: '' }]],
    ['tenantId', /./, [{ tenantId: null }, { tenantId: 1.5 }, { tenantSlug: 'globex', tenantId: '42' }]]
  ]
  for (const [field, message, values] of tenants) {
    for (const tenant of values) {
      const error = { code: 'invalid_input', field, message }
      await t.rejects(keys.list(tenant as never), error, JSON.stringify(tenant))
      for (const call of calls) await t.rejects(async () => call(tenant as never, id), error, JSON.stringify(tenant))
    }
  }
  const invalid = (field: string) => ({ code: 'invalid_input', field })
  await t.rejects(keys.rotate(acme, id, { overlapSeconds: -1 }), invalid('overlapSeconds'))
  await t.rejects(keys.rotate(acme, id, { overlap: 1 } as object), invalid('overlap'))
  await t.rejects(keys.revoke(acme, id, { transactions: 1 } as object), invalid('transactions'))
  t.strictSame(await rows(), before)
})

t.test('invalid options are rejected', async (t) => {
  for (const create of [apiKeys, postgresKeyLookup]) {
    t.throws(() => create(null as never), { code: 'invalid_option', field: 'pool' })
    for (const [field, value] of [['schema', ''], ['prefix', 'RK'], ['queryTimeoutMs', 1]] as const) {
      t.throws(() => create(pool, { [field]: value }), { code: 'invalid_option', field })
    }
  }
  for (const ownScopes of ['a:b', [''], [5], null]) {
    t.throws(() => open({ ownScopes: ownScopes as never }), { code: 'invalid_option', field: 'ownScopes' })
  }
  t.throws(() => postgresKeyLookup(pool, { recordUses: 1 as never }), { code: 'invalid_option', field: 'recordUses' })
  t.throws(() => postgresKeyLookup(pool, { clock: {} as never }), { code: 'invalid_option', field: 'clock.now' })
})

t.test("a tenant cannot find, rotate or revoke another tenant's key, and leaves no trace", async (t) => {
  const { id, key } = await issue()
  const owned = await keys.issue({ tenantId: 42, scopes: [] })
  const before = await rows()
  const globex = { tenantSlug: 'globex' }
  const strangers: Array<[of: string, tenants: object[]]> = [
    [id, [globex, { tenantSlug: 'ACME' }, { tenantSlug: 'acme ' }, { tenantSlug: '%' }, { tenantId: 42 }]],
    // The slug of a tenant with an id matches none of its keys.
    [owned.id, [acme, globex, { tenantId: 43 }]]
  ]
  for (const [of, tenants] of strangers) {
    for (const tenant of tenants as Array<typeof acme>) {
      t.equal(await keys.find(tenant, of), null, JSON.stringify(tenant))
      t.equal(await keys.revoke(tenant, of), false)
      await t.rejects(keys.rotate(tenant, of), { code: 'not_found', field: 'id' })
    }
  }
  t.strictSame(await rows(), before)
  t.match(await lookUp(key), { id })
  for (const slug of ['globex', 'ACME', 'acme ', '']) t.equal(await lookUp(key, slug), null, slug)
  t.match(await keys.find({ tenantId: '42' }, owned.id), { id: owned.id })
  t.equal(await keys.revoke({ tenantId: 42 }, owned.id), true)
})

t.test('a scope that no route has is rejected, and the error names the nearest one', async (t) => {
  const before = await rows()
  for (const [scope, nearest] of [
    ['candidates:raed', 'candidates:read'], ['jobs:wrte', 'jobs:write'], ['Webhooks:Read', 'webhooks:read'],
    ['notes:write', 'jobs:write'], ['candidates:*', 'candidates:read']
  ] as const) {
    const message = `scopes: expected a scope of a route, such as ${nearest}, got "${scope}"`
    await t.rejects(issue({ scopes: ['jobs:read', scope] }), { code: 'invalid_input', field: 'scopes', message })
  }
  t.strictSame(await rows(), before)
  const vendor = open({ ownScopes: ['notes:write', 'jobs:read'] })
  const own = await vendor.issue({ ...acme, scopes: ['notes:write', 'candidates:read'] })
  t.match(own, { scopes: ['notes:write', 'candidates:read'] })
  const misspelt = vendor.issue({ ...acme, scopes: ['notes:wriet'] })
  await t.rejects(misspelt, { message: /such as notes:write, got "notes:wriet"$/ })
  t.match(await issue({ scopes: apiScopes }), { scopes: apiScopes })
  t.match(await keys.rotate(acme, own.id), { scopes: own.scopes }, 'a key with an outdated scope is rotated unchanged')
})

t.test('rotating a key', async (t) => {
  const isFound = async (key: string): Promise<boolean> => await lookUp(key) !== null

  async function secondsLeft (id: string): Promise<number> {
    return Math.round((Date.parse((await keys.find(acme, id))?.expiresAt ?? '') - Date.now()) / 1000)
  }

  t.test('creates a key with a new id; the old one works for another day', async (t) => {
    const old = await issue({ ...limits, name: 'CRM', createdBy: 'ada', expiresAt: '2090-01-01T00:00:00Z' })
    const { key, id, start, createdAt, ...copied } = await keys.rotate(acme, old.id)
    const { key: oldKey, id: oldId, start: oldStart, createdAt: oldDate, ...rest } = old
    t.strictSame(copied, rest)
    t.not(id, oldId)
    t.not(key, oldKey)
    t.equal(start, key.slice(3, 7))
    t.strictSame([await isFound(oldKey), await lookUp(key)], [
      true, { id, scopes: ['jobs:read'], ...limits, name: 'CRM', expiresAt: old.expiresAt }
    ])
    t.ok(Math.abs(await secondsLeft(oldId) - 86_400) < 60)
    await pool.query("update keys.api_keys set replaced_at = replaced_at - interval '1 day' where id = $1", [oldId])
    t.strictSame([await isFound(oldKey), await isFound(key)], [false, true])
  })

  t.test('never extends the old key beyond its own date or an earlier overlap', async (t) => {
    const soon = await issue({ expiresAt: new Date(Date.now() + 60_000) })
    const replacement = await keys.rotate(acme, soon.id)
    t.equal((await keys.find(acme, soon.id))?.expiresAt, soon.expiresAt)
    t.equal(replacement.expiresAt, soon.expiresAt, 'nor does the new key outlive it')

    const old = await issue()
    await keys.rotate(acme, old.id, { overlapSeconds: 600 })
    const again = await keys.rotate(acme, old.id, { overlapSeconds: 86_400 })
    t.ok(await secondsLeft(old.id) <= 600)
    t.equal(again.expiresAt, null, "the new key has the old one's date, not the rest of its overlap")
  })

  t.test('is rejected for an unknown, revoked or expired key, and creates nothing', async (t) => {
    const revoked = await issue()
    await keys.revoke(acme, revoked.id)
    const expired = await issue({ expiresAt: '2020-01-01T00:00:00Z' })
    const replaced = await issue()
    await keys.rotate(acme, replaced.id, { overlapSeconds: 0 })
    const before = await rows()
    const message = 'id: the tenant has no valid key with this id'
    for (const id of ['key_none', revoked.id, expired.id, replaced.id]) {
      await t.rejects(keys.rotate(acme, id), { name: 'RecruitingApiError', code: 'not_found', field: 'id', message })
    }
    t.strictSame(await rows(), before)
  })

  t.test('is rejected for a key that another rotation ended first, and waits for it without a connection', async (t) => {
    const old = await issue()
    const other = await begin(pool)
    await other.query('select from keys.api_keys where id = $1 for update', [old.id])
    const rejected = t.rejects(keys.rotate(acme, old.id, { overlapSeconds: 0 }), { code: 'not_found', field: 'id' })
    const idle = new Promise<void>((resolve) => { pool.once('release', () => resolve()) })
    await idle
    const end = "update keys.api_keys set replaced_at = date_trunc('milliseconds', clock_timestamp()) where id = $1"
    await other.query(end, [old.id])
    await other.finish()
    await rejected
  })

  t.test('concurrent with a revocation leaves the old key revoked', async (t) => {
    for (let round = 0; round < 5; round++) {
      const old = await issue()
      const [rotated, revoked] = await Promise.allSettled([keys.rotate(acme, old.id), keys.revoke(acme, old.id)])
      t.strictSame(revoked, { status: 'fulfilled', value: true })
      if (rotated.status === 'rejected') t.match(rotated.reason, { code: 'not_found' })
      t.equal(await isFound(old.key), false)
    }
  })
})

t.test('keys of a tenant with an id belong to the id, under any slug', async (t) => {
  const named = open({ tenantSlug: async (tenantId) => tenantId === '42' ? 'acme' : null })
  const { id, key, ...stored } = await named.issue({ tenantId: 42, scopes: [] })
  t.match(stored, { tenantSlug: 'acme', tenantId: '42' })
  t.match(await lookUp(key, '42', 'renamed'), { id })
  for (const tenantId of ['acme', '43', '']) t.equal(await lookUp(key, tenantId, 'acme'), null, tenantId)
  const rotated = await keys.rotate({ tenantId: 42 }, id)
  t.match(rotated, { tenantSlug: 'acme', tenantId: '42' })
  t.match(await lookUp(rotated.key, '42', 'acme'), { id: rotated.id })

  const tenantId = 'Ünïcode id'
  const { key: _, ...other } = await named.issue({ tenantId, scopes: [] })
  t.equal(other.tenantSlug, tenantId, 'the slug of a tenant without a known slug is its id')
  t.strictSame(await keys.list({ tenantId }), [other])
  t.strictSame(await keys.list({ tenantSlug: tenantId.toLowerCase() }), [])
  t.strictSame(await keys.find({ tenantId }, other.id), other)
})

t.test("keys in the host's transaction", async (t) => {
  for (const end of ['rollback', 'commit'] as const) {
    t.test(`change ${end === 'commit' ? 'everything if it commits' : 'nothing if it is rolled back'}`, async (t) => {
      const kept = await issue()
      const before = await keys.list(acme)
      const transaction = await begin(pool)
      const issued = await keys.issue({ ...acme, scopes: ['jobs:read'] }, { transaction })
      const rotated = await keys.rotate(acme, issued.id, {}, { transaction })
      t.equal(await keys.revoke(acme, issued.id, { transaction }), true)
      t.match(await keys.find(acme, issued.id, { transaction }), { revokedAt: /Z$/ })
      t.equal((await keys.list(acme, { transaction })).length, before.length + 2)
      t.equal(await keys.find(acme, issued.id), null, 'it is not visible to others yet')
      await transaction.finish(end)
      t.equal(await lookUp(issued.key), null)
      t.strictSame((await lookUp(rotated.key))?.id, end === 'commit' ? rotated.id : undefined)
      t.match(await lookUp(kept.key), { id: kept.id })
      t.equal((await keys.list(acme)).length, before.length + (end === 'commit' ? 2 : 0))
    })
  }

  t.test('are rejected outside one', async (t) => {
    const client = await pool.connect()
    const kept = await issue()
    const before = await rows()
    for (const transaction of [null, client, pool, 'begin']) {
      const calls: Array<() => Promise<unknown>> = [
        () => keys.issue({ ...acme, scopes: [] }, { transaction }),
        () => keys.list(acme, { transaction }),
        () => keys.rotate(acme, kept.id, {}, { transaction }),
        () => keys.revoke(acme, kept.id, { transaction }),
        () => keys.find(acme, kept.id, { transaction })
      ]
      for (const call of calls) await t.rejects(call, { code: 'invalid_event', field: 'transaction' })
    }
    client.release()
    t.strictSame(await rows(), before)
  })
})

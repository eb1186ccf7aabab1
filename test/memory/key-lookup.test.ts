import t from 'tap'
import { isRecruitingApiError } from '../../src/core/shared/errors.js'
import { memoryKeyLookup } from '../../src/storages/memory/index.js'
import { type KeyHarness, keyLookupCases } from '../../src/tools/testing/index.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'

const scopes = ['candidates:read', 'jobs:read']

function rejection (keys: unknown): string | null {
  try {
    Reflect.apply(memoryKeyLookup, undefined, [keys])
    return null
  } catch (error) {
    if (!isRecruitingApiError(error) || error.code !== 'invalid_option') throw error
    t.ok(error.message.startsWith(`${error.field}: `))
    return error.message
  }
}

t.test('a lookup returns the limits of a key, which cannot be changed', async (t) => {
  const limits = { allowedIps: ['10.0.0.0/8'], candidateFields: ['headline'], jobFields: [] }
  const find = memoryKeyLookup([
    { key: 'first', tenantSlug: 'acme', scopes, ...limits },
    { key: 'second', tenantSlug: 'acme', scopes, jobFields: ['name'], id: 'backup' }
  ])
  const first = { tenantSlug: 'acme', tenantId: 'acme', key: 'first' }
  t.strictSame(await find(first), { id: 'key_1', scopes, ...limits })
  t.strictSame(await find({ ...first, key: 'second' }), { id: 'backup', scopes, jobFields: ['name'] })
  const found = await find(first)
  for (const list of [found?.allowedIps, found?.candidateFields, found?.jobFields]) t.throws(() => (list as string[]).push('more'), TypeError)
  limits.allowedIps.push('0.0.0.0/0')
  t.strictSame((await find(first))?.allowedIps, ['10.0.0.0/8'])
})

t.test('a lookup returns null once the key has expired', async (t) => {
  const clock = createManualClock('2026-01-01T00:00:00Z')
  const find = memoryKeyLookup([
    { key: 'text', tenantSlug: 'acme', scopes, expiresAt: '2026-01-01T01:00:01+01:00' },
    { key: 'date', tenantSlug: 'acme', scopes, expiresAt: new Date('2026-01-01T00:00:02Z') }
  ], { clock })
  const isValid = async (key: string): Promise<boolean> => await find({ tenantSlug: 'acme', tenantId: 'acme', key }) !== null

  await clock.advance(999)
  t.strictSame([await isValid('text'), await isValid('date')], [true, true])
  await clock.advance(1)
  t.strictSame([await isValid('text'), await isValid('date')], [false, true])
  await clock.advance(1000)
  t.strictSame([await isValid('text'), await isValid('date')], [false, false])
})

t.test('malformed keys are rejected with their path', async (t) => {
  const key = { key: 'first', tenantSlug: 'acme', scopes }
  const slug = 'expected a tenant slug of 1 to 100 characters without control characters'
  const dateTime = 'expected an RFC 3339 date-time'
  const rejected: Array<[keys: unknown, message: string]> = [
    ['secret', 'keys: expected an array'],
    [['secret'], 'keys[0]: expected an object'],
    [[key, { ...key, key: 'b', tenantSlug: '' }], `keys[1].tenantSlug: ${slug}, got ""`],
    [[{ ...key, scopes: 'jobs:read' }], 'keys[0].scopes: expected an array, got "jobs:read"'],
    [[{ ...key, scopes: ['a', 1] }], 'keys[0].scopes[1]: expected a string, got 1'],
    [[{ ...key, id: 5 }], 'keys[0].id: expected a string, got 5'],
    [[key, { ...key, tenantSlug: 'other' }], 'keys[1].key: is listed twice'],
    [[{ ...key, revoked: 'no' }], 'keys[0].revoked: expected a boolean, got "no"'],
    [[{ ...key, expiresAt: 'soon' }], `keys[0].expiresAt: ${dateTime}, got "soon"`],
    [[{ ...key, expiresAt: 5 }], `keys[0].expiresAt: ${dateTime}, got 5`],
    [[{ ...key, expiresAt: new Date(Number.NaN) }], 'keys[0].expiresAt: expected a valid date, got "Invalid Date"']
  ]
  for (const [keys, message] of rejected) t.equal(rejection(keys), message)
  for (const [limits, field] of [
    [{ allowedIps: [] }, 'allowedIps'], [{ allowedIps: ['10.0.0.0'] }, 'allowedIps[0]'],
    [{ candidateFields: 'headline' }, 'candidateFields'], [{ jobFields: [''] }, 'jobFields[0]']
  ] as const) t.match(rejection([{ ...key, ...limits }]), `keys[0].${field}: expected `)
})

t.test('a key can contain the characters of a bearer token', async (t) => {
  const message = 'keys[0].key: expected 1 to 512 characters of A-Z a-z 0-9 - . _ ~ + / with = only at the end'
  for (const key of ['', '=', 'a=b', 'a b', 'a\n', 'é', 'a,b', 'x'.repeat(513), 5, undefined]) {
    t.equal(rejection([{ key, tenantSlug: 'acme', scopes }]), message)
  }
  for (const key of ['a', '0Az-._~+/==', 'x'.repeat(512)]) {
    t.equal(rejection([{ key, tenantSlug: 'acme', scopes }]), null)
  }
})

// Keys are passed as a list, so each saved key creates a new lookup.
function makeHarness (): KeyHarness {
  const keys: Parameters<typeof memoryKeyLookup>[0][number][] = []
  return {
    lookup: (credentials) => memoryKeyLookup(keys)(credentials),
    save ({ state, ...key }) {
      keys.push({ ...key, revoked: state === 'revoked', ...(state === 'expired' ? { expiresAt: '2020-01-01T00:00:00Z' } : {}) })
      return key.key
    }
  }
}

for (const { name, run } of keyLookupCases) t.test(name, () => run(makeHarness))

import { createHash } from 'node:crypto'
import type { ApiKey, GeneratedKey, KeyStore, ManagedKey, NewManagedKey } from '../ports/index.js'
import { type KeyLookupCase, runOn } from './support/case.js'
import { given, holds, isInstant, same } from './support/expect.js'
import type { KeyHarness, SavedKey } from './support/harness.js'

const scopes = ['candidates:read', 'jobs:read']

/** Adds helpers to a key lookup under test. They act for the tenant `acme` by default. */
function openKeys (harness: KeyHarness) {
  /** Without the option `tenantId`, the slug is the id. */
  const lookUp = async (key: string, tenant = 'acme'): Promise<ApiKey | null> =>
    harness.lookup({ tenantSlug: tenant, tenantId: tenant, key })

  return {
    harness,
    lookUp,
    /** Returns a key's scopes, sorted; `null` if the key is not found. */
    async findScopes (key: string, tenant?: string): Promise<string[] | null> {
      const owner = await lookUp(key, tenant)
      return owner && [...owner.scopes].sort()
    },
    /** Saves a valid key and returns its text. */
    async save (changes: Partial<SavedKey> = {}): Promise<string> {
      const key = await harness.save({ key: 'acme-key-1', tenantSlug: 'acme', scopes, state: 'valid', ...changes })
      return given(key, 'the harness can make a valid key')
    }
  }
}

function keyCase (name: string, body: (keys: ReturnType<typeof openKeys>) => Promise<void>): KeyLookupCase {
  return { group: 'keys', port: 'keyLookup', name, run: (make) => runOn(make, (harness) => body(openKeys(harness))) }
}

/** A case for lookups with a store; others pass. */
function storeCase (
  name: string, body: (keys: ReturnType<typeof openKeys> & { store: KeyStore }) => Promise<void>
): KeyLookupCase {
  const one = keyCase(name, async (keys) => {
    const { store } = keys.harness.lookup
    if (store !== undefined) await body({ ...keys, store })
  })
  return { ...one, port: 'keyLookup.store' }
}

function generated (key: string): GeneratedKey {
  const digest = createHash('sha256').update(key).digest('hex')
  return { id: `id-${key}`, digest, start: key.slice(0, 4), createdBy: 'user:17' }
}

function newKey (key: string, changes: Partial<NewManagedKey> = {}): NewManagedKey {
  return {
    ...generated(key),
    tenantSlug: 'acme',
    name: `Key ${key}`,
    scopes: ['candidates:read', 'jobs:read'],
    allowedIps: null,
    candidateFields: null,
    jobFields: null,
    expiresInDays: 7,
    ...changes
  }
}

async function create (store: KeyStore, key: string, changes: Partial<NewManagedKey> = {}): Promise<ManagedKey> {
  return given(await store.create('acme', newKey(key, changes), 10), `the new key ${key}`)
}

function secondsUntil (instant: string | null): number {
  isInstant(instant, 'a date of a key')
  return (Date.parse(instant) - Date.now()) / 1000
}

const byId = { sort: [{ field: 'id', direction: 'asc' }], limit: 200 } as const

/** Conformance cases for the `KeyStore` of a `KeyLookup`. */
const keyStoreCases: readonly KeyLookupCase[] = Object.freeze([
  storeCase('a created key is found with its scopes and limits, and stored without its text', async ({
    store, lookUp
  }) => {
    const limits = { allowedIps: ['192.0.2.0/24'], candidateFields: ['headline'], jobFields: [] }
    const created = await create(store, 'key-one', limits)
    const { created_at: createdAt, expires_at: expiresAt, ...rest } = created
    same(rest, {
      id: 'id-key-one',
      name: 'Key key-one',
      scopes: ['candidates:read', 'jobs:read'],
      allowed_ips: ['192.0.2.0/24'],
      candidate_fields: ['headline'],
      job_fields: [],
      start: 'key-',
      created_by: 'user:17',
      replaced: false,
      last_used_at: null,
      revoked_at: null
    }, 'the stored key')
    isInstant(createdAt, 'created_at')
    const days = (Date.parse(String(expiresAt)) - Date.parse(createdAt)) / 86_400_000
    holds(Math.abs(days - 7) < 0.01, 'expires_at is seven days after created_at')
    same(await store.find('acme', created.id), created, 'the key, found by its id')
    same(await lookUp('key-one'), { id: created.id, scopes: created.scopes, ...limits }, 'the owner of the key')
  }),

  storeCase('keys are listed in pages, in both directions', async ({ store }) => {
    for (const key of ['b', 'c', 'a']) await create(store, key)
    same(await store.count('acme'), 3, 'the number of keys')
    const page = (field: 'id' | 'created_at', direction: 'asc' | 'desc', offset = 0, limit = 200) =>
      store.list('acme', { sort: [{ field, direction }, { field: 'id', direction }], offset, limit })
        .then((rows) => rows.map(({ id }) => id))
    same(await page('id', 'asc'), ['id-a', 'id-b', 'id-c'], 'the ids, by id')
    same(await page('id', 'desc', 1, 1), ['id-b'], 'the second id, descending')
    const byDate = await page('created_at', 'asc')
    same(byDate.toSorted(), ['id-a', 'id-b', 'id-c'], 'the ids, by created_at')
    same(await page('created_at', 'desc'), byDate.toReversed(), 'the ids, by created_at descending')
    same(await page('id', 'asc', 3), [], 'the page after the last')
  }),

  storeCase('a tenant cannot see or change keys of another tenant', async ({ store, lookUp }) => {
    const { id } = await create(store, 'mine')
    same(await store.list('globex', { ...byId, offset: 0 }), [], 'the keys of globex')
    same(await store.count('globex'), 0, 'the number of keys of globex')
    same(await store.find('globex', id), null, 'the key of acme, found for globex')
    same(await store.rotate('globex', id, generated('next'), 0), null, 'the key of acme, rotated for globex')
    same(await store.revoke('globex', id), false, 'whether globex could revoke the key of acme')
    same(await lookUp('mine', 'globex'), null, 'the key of acme, looked up for globex')
    same((await lookUp('mine'))?.id, id, 'the key of acme, looked up for acme')
  }),

  storeCase('at most maxKeys valid keys are created, even by concurrent calls', async ({ store }) => {
    const others = await store.create('globex', newKey('other', { tenantSlug: 'globex' }), 1)
    given(others, 'the key of another tenant')
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    const created = await Promise.all(names.map((key) => store.create('acme', newKey(key), 3)))
    const stored = created.filter((key) => key !== null)
    same(stored.length, 3, 'the number of keys created with the limit 3')
    same(await store.count('acme'), 3, 'the number of stored keys')
    const [first, second] = stored
    await store.revoke('acme', String(first?.id))
    given(await store.rotate('acme', String(second?.id), generated('next'), 60), 'the rotated key')
    given(await store.create('acme', newKey('g'), 3), 'a key after another one was revoked')
    same(await store.create('acme', newKey('h'), 3), null, 'a fourth key, while a replaced one is still valid')
  }),

  storeCase('a rotated key has the scopes and limits of the old one, which expires after the overlap', async ({
    store, lookUp
  }) => {
    const old = await create(store, 'old', { allowedIps: ['192.0.2.0/24'] })
    const rotated = given(await store.rotate('acme', old.id, { ...generated('next'), createdBy: 'user:18' }, 60),
      'the rotated key')
    const { created_at: createdAt } = rotated
    same(rotated, { ...old, id: 'id-next', start: 'next', created_by: 'user:18', created_at: createdAt },
      'the rotated key')
    same((await lookUp('old'))?.id, old.id, 'the old key during the overlap')
    same((await lookUp('next'))?.allowedIps, ['192.0.2.0/24'], 'the networks of the new key')
    const replaced = given(await store.find('acme', old.id), 'the old key, by its id')
    same(replaced.replaced, true, 'whether the old key is replaced')
    holds(Math.abs(secondsUntil(replaced.expires_at) - 60) < 30, 'the old key ends after the overlap')
    same(await store.rotate('acme', old.id, generated('again'), 60), null, 'the old key, rotated again')
    // Never looked up before: a cache may keep a key for a while.
    const other = await create(store, 'other')
    const both = await Promise.all(['x', 'y'].map((key) => store.rotate('acme', other.id, generated(key), 0)))
    same(both.filter((key) => key !== null).length, 1, 'the number of concurrent rotations that succeeded')
    same(await lookUp('other'), null, 'the key that was rotated without an overlap')
  }),

  storeCase('a revoked key is not found, and cannot be rotated', async ({ store, lookUp }) => {
    const { id } = await create(store, 'mine')
    same(await store.revoke('acme', id), true, 'whether the key was revoked')
    same(await lookUp('mine'), null, 'the revoked key')
    const revoked = given(await store.find('acme', id), 'the revoked key, by its id')
    isInstant(revoked.revoked_at, 'revoked_at')
    same(await store.revoke('acme', id), true, 'whether the key exists')
    same(await store.find('acme', id), revoked, 'the key, revoked again')
    same(await store.rotate('acme', id, generated('next'), 60), null, 'the revoked key, rotated')
    same(await store.revoke('acme', 'unknown'), false, 'whether an unknown key was revoked')
  })
])

// Unknown keys that an attacker may send. The lookup must return null for each and not reject.
const strangers = [
  'a',
  'unknown',
  '__proto__',
  'constructor',
  'null',
  '0',
  'x'.repeat(512),
  'a.b.c',
  '..',
  '~/+==',
  'eyJhbGciOiJub25lIn0.e30.',
  'eyJhbGciOiJIUzI1NiJ9.eyJzY29wZXMiOlsiYSJdfQ.AAAA'
]

/**
 * Conformance cases for a `KeyLookup`, and for its `store` if it has one. Each case runs on a new lookup without keys.
 */
export const keyLookupCases: readonly KeyLookupCase[] = Object.freeze([
  keyCase('a key is found for its tenant, with its scopes', async ({ save, findScopes }) => {
    const first = await save()
    const second = await save({ key: 'acme-key-2', scopes: [] })
    const third = await save({ key: 'globex-key', tenantSlug: 'globex', scopes: ['webhooks:read'] })
    same(await findScopes(first), scopes, 'the scopes of the first key of acme')
    same(await findScopes(second), [], 'the scopes of a key without any')
    same(await findScopes(third, 'globex'), ['webhooks:read'], 'the scopes of the key of globex')
  }),

  keyCase('every key has its own id, which does not contain the key', async ({ save, lookUp }) => {
    const keys = [await save(), await save({ key: 'acme-key-2' })] as const
    const ids = (await Promise.all(keys.map((key) => lookUp(key)))).map((owner) => owner?.id)
    same(ids.map((found) => typeof found), ['string', 'string'], 'the types of the ids of two keys')
    same(new Set(ids).size, 2, 'the number of different ids of two keys')
    holds(keys.every((key, index) => ids[index] !== '' && !String(ids[index]).includes(key)),
      'no id is empty or contains its key')
    same((await lookUp(keys[0]))?.id, ids[0], 'the id of the first key, looked up again')
  }),

  keyCase('a key is not found for another or an unknown tenant', async ({ save, lookUp }) => {
    const mine = await save()
    const theirs = await save({ key: 'globex-key', tenantSlug: 'globex' })
    const others = ['globex', 'nobody', 'ACME', 'Acme', 'acme ', 'acm_', '%', '__proto__', "acme' or '1'='1"]
    for (const tenantSlug of others) {
      same(await lookUp(mine, tenantSlug), null, `the key of acme for ${JSON.stringify(tenantSlug)}`)
    }
    same(await lookUp(theirs), null, 'the key of globex for acme')
  }),

  keyCase('an unknown key is not found, even if it is similar to a known one', async ({ save, lookUp, findScopes }) => {
    const key = await save()
    const otherCases = [key.toUpperCase(), key.toLowerCase()].filter((other) => other !== key)
    const similar = [...otherCases, key.slice(0, -1), `${key}x`, `x${key}`, key.slice(1)]
    for (const other of [...similar, ...strangers]) {
      same(await lookUp(other), null, `the unknown key ${JSON.stringify(other)}`)
    }
    same(await findScopes(key), scopes, 'the scopes of the known key')
  }),

  ...(['expired', 'revoked'] as const).map((state) =>
    keyCase(`${state} keys are not found`, async ({ harness, save, lookUp, findScopes }) => {
      const valid = await save()
      const other = await harness.save({ key: 'acme-key-2', tenantSlug: 'acme', scopes, state })
      if (other !== null) same(await lookUp(other), null, `the ${state} key`)
      same(await findScopes(valid), scopes, 'the scopes of another key')
    })),

  keyCase('concurrent lookups each find their own key', async ({ save, findScopes }) => {
    const keys = [await save(), await save({ key: 'acme-key-2', scopes: ['a:b'] }), 'unknown']
    const found = await Promise.all([...keys, ...keys].map((key) => findScopes(key)))
    same(found, [scopes, ['a:b'], null, scopes, ['a:b'], null], 'the scopes of six concurrent lookups')
  }),

  keyCase(
    'recordUse returns immediately and never throws, even for an unknown key',
    async ({ harness, save, lookUp, findScopes }) => {
      const key = await save()
      const owner = await lookUp(key)
      for (const id of [String(owner?.id), 'unknown', '']) {
        same(harness.lookup.recordUse?.(id), undefined, `the result of recordUse for the id ${JSON.stringify(id)}`)
      }
      same(await findScopes(key), scopes, 'the scopes afterwards')
    }),

  keyCase('changing a returned owner does not change the scopes of its key', async ({ save, lookUp, findScopes }) => {
    const key = await save()
    const owner = await lookUp(key)
    try {
      if (owner !== null) Reflect.apply(Array.prototype.push, owner.scopes, ['webhooks:write'])
    } catch {
      // A frozen array protects the stored scopes as well as a copy does.
    }
    same(await findScopes(key), scopes, 'the scopes, looked up again')
  }),

  ...keyStoreCases
])

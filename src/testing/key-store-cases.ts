import { createHash } from 'node:crypto'
import type { ApiKey, GeneratedKey, KeyLookup, KeyStore, ManagedKey, NewManagedKey } from '../ports/index.js'
import { type KeyLookupCase, runOn } from './support/case.js'
import { given, holds, isInstant, same } from './support/expect.js'

interface Subject {
  store: KeyStore
  lookUp (key: string, tenant?: string): Promise<ApiKey | null>
}

/** A case for lookups with a store; others pass. */
function storeCase (name: string, body: (subject: Subject) => Promise<void>): KeyLookupCase {
  return {
    group: 'keys',
    port: 'keyLookup.store',
    name,
    run: (make) => runOn(make, async ({ lookup }: { lookup: KeyLookup }) => {
      const { store } = lookup
      if (store === undefined) return
      const lookUp: Subject['lookUp'] = async (key, tenant = 'acme') =>
        lookup({ tenantSlug: tenant, tenantId: tenant, key })
      await body({ store, lookUp })
    })
  }
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
export const keyStoreCases: readonly KeyLookupCase[] = Object.freeze([
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

  storeCase('a key of another tenant does not exist', async ({ store, lookUp }) => {
    const { id } = await create(store, 'mine')
    same(await store.list('globex', { ...byId, offset: 0 }), [], 'the keys of globex')
    same(await store.count('globex'), 0, 'the number of keys of globex')
    same(await store.find('globex', id), null, 'the key of acme, found for globex')
    same(await store.rotate('globex', id, generated('next'), 0), null, 'the key of acme, rotated for globex')
    same(await store.revoke('globex', id), false, 'whether globex could revoke the key of acme')
    same(await lookUp('mine', 'globex'), null, 'the key of acme, looked up for globex')
    same((await lookUp('mine'))?.id, id, 'the key of acme, looked up for acme')
  }),

  storeCase('no more than maxKeys valid keys are created, even at the same time', async ({ store }) => {
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

  storeCase('a rotated key has the scopes and limits of the old one, which ends after its overlap', async ({
    store, lookUp
  }) => {
    const old = await create(store, 'old', { allowedIps: ['192.0.2.0/24'] })
    const rotated = given(
      await store.rotate('acme', old.id, { ...generated('next'), createdBy: 'user:18' }, 60), 'the rotated key'
    )
    const { created_at: createdAt } = rotated
    same(rotated, {
      ...old, id: 'id-next', start: 'next', created_by: 'user:18', created_at: createdAt
    }, 'the rotated key')
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

import { createHash } from 'node:crypto'
import type { ApiKey, Creator, GeneratedKey, KeyStore, ManagedKey, NewManagedKey } from '../../core/ports/index.js'
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
  return { id: `id-${key}`, digest, start: key.slice(0, 4), createdBy: { type: 'session', id: 'user:17' } }
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
  return stored(await store.create('acme', newKey(key, changes), { maxKeys: 50 }), `the new key ${key}`)
}

/** Returns a key that was stored, and fails if it was rejected. */
function stored<Key extends ManagedKey> (result: Key | string | null, name: string): Key {
  holds(typeof result === 'object', `${name} is stored, got ${JSON.stringify(result)}`)
  return given(result, name)
}

function byKey (id: string): Creator {
  return { type: 'key', id }
}

const hour = { overlapSeconds: 3600, maxKeys: 50 }

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
      created_by: { type: 'session', id: 'user:17' },
      replaced: false,
      last_used_at: null,
      revoked_at: null
    }, 'the stored key')
    isInstant(createdAt, 'created_at')
    const days = (Date.parse(String(expiresAt)) - Date.parse(createdAt)) / 86_400_000
    holds(Math.abs(days - 7) < 0.01, 'expires_at is seven days after created_at')
    same(await store.find('acme', created.id), created, 'the key, found by its id')
    const owner = { id: created.id, scopes: created.scopes, ...limits, name: 'Key key-one', expiresAt }
    same(await lookUp('key-one'), owner, 'the owner of the key')
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
    same(await store.rotate('globex', id, generated('next'), hour), null, 'the key of acme, rotated for globex')
    const child = await create(store, 'child', { createdBy: byKey(id) })
    for (const children of [false, true]) {
      same(await store.revoke('globex', id, { children }), null, 'the key of acme, revoked by globex')
      same(await store.selectFamily('globex', id, { ids: [id, child.id], children }), [], 'its family, for globex')
    }
    const stranger = stored(await store.create('globex', newKey('theirs', { createdBy: byKey(id) }), { maxKeys: 5 }),
      'a key of globex, created by a key with the same id')
    same(await store.revoke('acme', id, { children: true }), { children: 1 }, 'the children of the key of acme')
    same((await store.find('globex', stranger.id))?.revoked_at, null, 'revoked_at of the key of globex')
    same(await store.selectFamily('acme', id, { ids: [stranger.id], children: true }), [], 'the family of acme')
    same(await lookUp('mine', 'globex'), null, 'the key of acme, looked up for globex')
    same((await lookUp('theirs', 'globex'))?.id, stranger.id, 'the key of globex, looked up for globex')
  }),

  storeCase('at most maxKeys keys are valid, also replaced ones, even with concurrent calls', async ({ store }) => {
    const maxKeys = 3
    stored(await store.create('globex', newKey('other', { tenantSlug: 'globex' }), { maxKeys: 1 }),
      'the key of another tenant')
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    const results = await Promise.all(names.map((key) => store.create('acme', newKey(key), { maxKeys })))
    const [first, second] = results.filter((key) => typeof key === 'object')
    same(results.filter((key) => key === 'full').length, 3, 'the number of calls rejected with maxKeys 3')
    same(await store.count('acme'), 3, 'the number of stored keys')
    const id = String(second?.id)
    same(await store.rotate('acme', id, generated('x'), { overlapSeconds: 60, maxKeys }), 'full',
      'a fourth key, by a rotation with an overlap')
    stored(await store.rotate('acme', id, generated('next'), { overlapSeconds: 0, maxKeys }), 'the rotated key')
    same(await store.create('acme', newKey('g'), { maxKeys }), 'full', 'a fourth key')
    await store.revoke('acme', String(first?.id), { children: false })
    stored(await store.rotate('acme', 'id-next', generated('y'), { overlapSeconds: 60, maxKeys }),
      'a rotated key, after another one was revoked')
    same(await store.create('acme', newKey('h'), { maxKeys }), 'full', 'a fourth key, while a replaced one is valid')
  }),

  storeCase('a rotated key has the scopes and limits of the old one, which expires after the overlap', async ({
    store, lookUp
  }) => {
    const old = await create(store, 'old', { allowedIps: ['192.0.2.0/24'] })
    const by: Creator = { type: 'session', id: 'user:18' }
    const rotated = stored(
      await store.rotate('acme', old.id, { ...generated('next'), createdBy: by }, { overlapSeconds: 60, maxKeys: 50 }),
      'the rotated key'
    )
    const { previous_key_expires_at: previousEnd, ...next } = rotated
    const { created_at: createdAt } = next
    same(next, { ...old, id: 'id-next', start: 'next', created_by: by, created_at: createdAt }, 'the rotated key')
    same((await lookUp('old'))?.id, old.id, 'the old key during the overlap')
    same((await lookUp('next'))?.allowedIps, ['192.0.2.0/24'], 'the networks of the new key')
    const replaced = given(await store.find('acme', old.id), 'the old key, by its id')
    same(replaced.replaced, true, 'whether the old key is replaced')
    holds(Math.abs(secondsUntil(replaced.expires_at) - 60) < 30, 'the old key ends after the overlap')
    same(previousEnd, replaced.expires_at, 'previous_key_expires_at of the new key')
    same(await store.rotate('acme', old.id, generated('again'), hour), null, 'the old key, rotated again')
    // Never looked up before: a cache may keep a key for a while.
    const other = await create(store, 'other')
    const now = { overlapSeconds: 0, maxKeys: 50 }
    const both = await Promise.all(['x', 'y'].map((key) => store.rotate('acme', other.id, generated(key), now)))
    same(both.filter((key) => key !== null).length, 1, 'the number of concurrent rotations that succeeded')
    same(await lookUp('other'), null, 'the key that was rotated without an overlap')
  }),

  storeCase('a key that a key creates or rotates expires no later than it', async ({ store }) => {
    const parent = await create(store, 'parent', { expiresInDays: 1 })
    const longer = await create(store, 'longer', { expiresInDays: 300 })
    const child = await create(store, 'child', { createdBy: byKey(parent.id), expiresInDays: 300 })
    same(child.expires_at, parent.expires_at, 'expires_at of a child')
    const rotated = stored(
      await store.rotate('acme', longer.id, { ...generated('next'), createdBy: byKey(parent.id) }, hour),
      'a key rotated by another one'
    )
    same(rotated.expires_at, parent.expires_at, 'expires_at of a key rotated by another one')
    const shorter = await create(store, 'shorter', { createdBy: byKey(parent.id), expiresInDays: 1 })
    holds(String(shorter.expires_at) <= String(parent.expires_at), 'a second child does not outlive its parent')
  }),

  storeCase('a key that was replaced or revoked creates and rotates nothing', async ({ store }) => {
    const replaced = await create(store, 'replaced')
    stored(await store.rotate('acme', replaced.id, generated('next'), hour), 'the rotated key')
    const revoked = await create(store, 'revoked')
    await store.revoke('acme', revoked.id, { children: false })
    const other = await create(store, 'other')
    const before = await store.count('acme')
    for (const { id } of [replaced, revoked]) {
      const createdBy = byKey(id)
      same(await store.create('acme', newKey('child', { createdBy }), { maxKeys: 50 }), 'creator_ended', 'a child')
      for (const old of [other.id, id]) {
        same(await store.rotate('acme', old, { ...generated('again'), createdBy }, hour), 'creator_ended', 'a rotation')
      }
    }
    same(await store.count('acme'), before, 'the number of stored keys')
    same((await store.find('acme', other.id))?.replaced, false, 'whether the other key was replaced')
  }),

  storeCase('a revoked key is not found, and cannot be rotated', async ({ store, lookUp }) => {
    const { id } = await create(store, 'mine')
    const alone = { children: false }
    same(await store.revoke('acme', id, alone), { children: 0 }, 'the result of revoke')
    same(await lookUp('mine'), null, 'the revoked key')
    const revoked = given(await store.find('acme', id), 'the revoked key, by its id')
    isInstant(revoked.revoked_at, 'revoked_at')
    same(await store.revoke('acme', id, alone), { children: 0 }, 'the result of revoke, called again')
    same(await store.find('acme', id), revoked, 'the key, revoked again')
    same(await store.rotate('acme', id, generated('next'), hour), null, 'the revoked key, rotated')
    same(await store.revoke('acme', 'unknown', alone), null, 'an unknown key, revoked')
  }),

  storeCase('revoking a key with its children ends the keys that descend from it, and no others', async ({ store }) => {
    const rotate = async (id: string, key: string, createdBy = generated(key).createdBy) =>
      stored(await store.rotate('acme', id, { ...generated(key), createdBy }, hour), `the rotated key ${key}`)
    const child = (of: string, key: string) => create(store, key, { createdBy: byKey(of) })
    await create(store, 'first')
    await child('id-first', 'early')
    await child('id-early', 'earlier')
    await rotate('id-first', 'second')
    await child('id-second', 'late')
    await rotate('id-late', 'renewed')
    await child('id-renewed', 'grandchild')
    await create(store, 'other')
    // The holder of the second key also gets the text of a key that it rotates.
    await rotate('id-other', 'taken', byKey('id-second'))
    await rotate('id-second', 'third')
    await child('id-third', 'latest')
    const ids = ['first', 'early', 'earlier', 'second', 'late', 'renewed', 'grandchild', 'other', 'taken', 'third', 'latest']
      .map((key) => `id-${key}`)
    const own = ['id-first', 'id-second']
    const children = ['id-early', 'id-earlier', 'id-late', 'id-renewed', 'id-grandchild', 'id-taken']
    const family = async (withChildren: boolean) =>
      (await store.selectFamily('acme', 'id-second', { ids: [...ids, 'unknown'], children: withChildren })).sort()
    same(await family(false), own, 'the family without children')
    same(await family(true), [...own, ...children].sort(), 'the family with children')

    same(await store.revoke('acme', 'id-second', { children: false }), { children: 6 }, 'the number of valid children')
    await store.revoke('acme', 'id-early', { children: false })
    same(await store.revoke('acme', 'id-second', { children: true }), { children: 5 }, 'the children left to revoke')
    const valid = []
    for (const id of ids) if ((await store.find('acme', id))?.revoked_at === null) valid.push(id)
    same(valid, ['id-first', 'id-other', 'id-third', 'id-latest'], 'the keys that are not revoked')
    same(await family(true), [...own, ...children].sort(), 'the family with children, after they were revoked')
  }),

  storeCase('a key descends from at most 20 keys', async ({ store }) => {
    let parent = await create(store, 'k0')
    for (let depth = 1; depth <= 20; depth++) parent = await create(store, `k${depth}`, { createdBy: byKey(parent.id) })
    same(await store.create('acme', newKey('k21', { createdBy: byKey(parent.id) }), { maxKeys: 50 }), 'too_deep',
      'a key that would descend from 21 keys')
    const { children } = given(await store.revoke('acme', 'id-k0', { children: true }), 'the result of revoke')
    same(children, 20, 'the number of revoked children')
  }),

  storeCase('no child survives a revocation at the same time', async ({ store }) => {
    await create(store, 'parent')
    const creating = ['a', 'b', 'c', 'd'].map((key) =>
      store.create('acme', newKey(key, { createdBy: byKey('id-parent') }), { maxKeys: 50 }))
    const [revoked, ...results] = await Promise.all([
      store.revoke('acme', 'id-parent', { children: true }), ...creating
    ])
    given(revoked, 'the result of revoke')
    for (const result of results) {
      if (typeof result === 'string') same(result, 'creator_ended', 'why no child was stored')
      else isInstant((await store.find('acme', result.id))?.revoked_at, 'revoked_at of the child')
    }
  })
])

// Unknown keys that an attacker may send. The lookup must return null for each and not reject.
const strangers = [
  'a', 'unknown', '__proto__', 'constructor', 'null', '0', 'x'.repeat(512), 'a.b.c', '..', '~/+==',
  'eyJhbGciOiJub25lIn0.e30.', 'eyJhbGciOiJIUzI1NiJ9.eyJzY29wZXMiOlsiYSJdfQ.AAAA'
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

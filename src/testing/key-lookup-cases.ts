import type { ApiKey } from '../ports/index.js'
import { type KeyLookupCase, runOn } from './support/case.js'
import { given, holds, same } from './support/expect.js'
import type { KeyHarness, SavedKey } from './support/harness.js'

const known =
  'Resolves to `null` unless the key is known, neither expired nor revoked, and belongs to exactly this tenant: a key ' +
  'of another tenant and a key of a tenant that does not exist are `null` too.'
const id = 'Names the key in logs and audits; never the key itself.'
const scoped = 'Compared exactly, such as `candidates:read`.'
const owned = 'changing it afterwards changes nothing that is stored.'

const scopes = ['candidates:read', 'jobs:read']

// What an attacker may send: neither of them is anybody's key, and none may make the lookup reject.
const strangers = [
  'a', 'unknown', '__proto__', 'constructor', 'null', '0', 'x'.repeat(512), 'a.b.c', '..', '~/+==', 'eyJhbGciOiJub25lIn0.e30.',
  'eyJhbGciOiJIUzI1NiJ9.eyJzY29wZXMiOlsiYSJdfQ.AAAA'
]

function keyCase (says: string, name: string, body: (harness: KeyHarness) => Promise<void>): KeyLookupCase {
  return {
    group: 'keys',
    port: 'keyLookup',
    says,
    name,
    run: (make) => runOn(make, body)
  }
}

async function save (harness: KeyHarness, changes: Partial<SavedKey> = {}): Promise<string> {
  const key = await harness.save({ key: 'acme-key-1', tenantSlug: 'acme', scopes, state: 'valid', ...changes })
  return given(key, 'the harness can make a valid key')
}

function show (owner: ApiKey | null): string[] | null {
  return owner && [...owner.scopes].sort()
}

/** What a `KeyLookup` must do, each case on a lookup of its own that knows no key. */
export const keyLookupCases: readonly KeyLookupCase[] = Object.freeze([
  keyCase(scoped, 'a key is found for its tenant, with its scopes', async (harness) => {
    const first = await save(harness)
    const second = await save(harness, { key: 'acme-key-2', scopes: [] })
    const third = await save(harness, { key: 'globex-key', tenantSlug: 'globex', scopes: ['webhooks:read'] })
    same(show(await harness.lookup({ tenantSlug: 'acme', key: first })), scopes, 'the scopes of the first key of acme')
    same(show(await harness.lookup({ tenantSlug: 'acme', key: second })), [], 'the scopes of a key without any')
    same(show(await harness.lookup({ tenantSlug: 'globex', key: third })), ['webhooks:read'], 'the scopes of the key of globex')
  }),

  keyCase(id, 'every key has an id of its own, which is not the key', async (harness) => {
    const keys = [await save(harness), await save(harness, { key: 'acme-key-2' })] as const
    const ids = (await Promise.all(keys.map((key) => harness.lookup({ tenantSlug: 'acme', key })))).map((owner) => owner?.id)
    same(ids.map((found) => typeof found), ['string', 'string'], 'what the ids of two keys are')
    same(new Set(ids).size, 2, 'how many different ids two keys have')
    holds(keys.every((key, index) => ids[index] !== '' && !String(ids[index]).includes(key)), 'no id is empty or has its key in it')
    same((await harness.lookup({ tenantSlug: 'acme', key: keys[0] }))?.id, ids[0],
      'the id of the first key, asked for again')
  }),

  keyCase(known, 'a key of another tenant, or of one that does not exist, is null', async (harness) => {
    const mine = await save(harness)
    const theirs = await save(harness, { key: 'globex-key', tenantSlug: 'globex' })
    for (const tenantSlug of ['globex', 'nobody', 'ACME', 'Acme', 'acme ', 'acm_', '%', '__proto__', "acme' or '1'='1"]) {
      same(await harness.lookup({ tenantSlug, key: mine }), null, `the key of acme for ${JSON.stringify(tenantSlug)}`)
    }
    same(await harness.lookup({ tenantSlug: 'acme', key: theirs }), null, 'the key of globex for acme')
  }),

  keyCase(known, 'a key that is unknown, or looks much like a known one, is null', async (harness) => {
    const key = await save(harness)
    const otherCases = [key.toUpperCase(), key.toLowerCase()].filter((other) => other !== key)
    const alike = [...otherCases, key.slice(0, -1), `${key}x`, `x${key}`, key.slice(1)]
    for (const other of [...alike, ...strangers]) {
      same(await harness.lookup({ tenantSlug: 'acme', key: other }), null, `the unknown key ${JSON.stringify(other)}`)
    }
    same(show(await harness.lookup({ tenantSlug: 'acme', key })), scopes, 'the scopes of the known one')
  }),

  keyCase(known, 'an expired key is null', async (harness) => {
    const valid = await save(harness)
    const expired = await harness.save({ key: 'acme-key-2', tenantSlug: 'acme', scopes, state: 'expired' })
    if (expired !== null) same(await harness.lookup({ tenantSlug: 'acme', key: expired }), null, 'the expired key')
    same(show(await harness.lookup({ tenantSlug: 'acme', key: valid })), scopes, 'the scopes of another key')
  }),

  keyCase(known, 'a revoked key is null', async (harness) => {
    const valid = await save(harness)
    const revoked = await harness.save({ key: 'acme-key-2', tenantSlug: 'acme', scopes, state: 'revoked' })
    if (revoked !== null) same(await harness.lookup({ tenantSlug: 'acme', key: revoked }), null, 'the revoked key')
    same(show(await harness.lookup({ tenantSlug: 'acme', key: valid })), scopes, 'the scopes of another key')
  }),

  keyCase(known, 'several lookups at once each find their own', async (harness) => {
    const keys = [await save(harness), await save(harness, { key: 'acme-key-2', scopes: ['a:b'] }), 'unknown']
    const found = await Promise.all([...keys, ...keys].map((key) => harness.lookup({ tenantSlug: 'acme', key })))
    same(found.map(show), [scopes, ['a:b'], null, scopes, ['a:b'], null], 'the scopes of six lookups at once')
  }),

  keyCase(owned, 'changing what is handed out makes no key mightier', async (harness) => {
    const key = await save(harness)
    const owner = await harness.lookup({ tenantSlug: 'acme', key })
    try {
      if (owner !== null) Reflect.apply(Array.prototype.push, owner.scopes, ['webhooks:write'])
    } catch {
      // Frozen: as good as a copy.
    }
    same(show(await harness.lookup({ tenantSlug: 'acme', key })), scopes, 'the scopes, asked for again')
  })
])

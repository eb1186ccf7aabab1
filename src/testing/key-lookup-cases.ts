import type { ApiKey } from '../ports/index.js'
import { keyStoreCases } from './key-store-cases.js'
import { type KeyLookupCase, runOn } from './support/case.js'
import { given, holds, same } from './support/expect.js'
import type { KeyHarness, SavedKey } from './support/harness.js'

const scopes = ['candidates:read', 'jobs:read']

// Unknown keys that an attacker may send. The lookup must return null for each and must not reject.
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

function keyCase (name: string, body: (harness: KeyHarness) => Promise<void>): KeyLookupCase {
  return {
    group: 'keys',
    port: 'keyLookup',
    name,
    run: (make) => runOn(make, body)
  }
}

async function save (harness: KeyHarness, changes: Partial<SavedKey> = {}): Promise<string> {
  const key = await harness.save({ key: 'acme-key-1', tenantSlug: 'acme', scopes, state: 'valid', ...changes })
  return given(key, 'the harness can make a valid key')
}

/** Without the option `tenantId`, the slug is the id. */
function lookUp (harness: KeyHarness, tenant: string, key: string): Promise<ApiKey | null> | ApiKey | null {
  return harness.lookup({ tenantSlug: tenant, tenantId: tenant, key })
}

function show (owner: ApiKey | null): string[] | null {
  return owner && [...owner.scopes].sort()
}

/**
 * Conformance cases for a `KeyLookup`, and for its `store` if it has one. Each case runs on a new lookup that knows no
 * keys.
 */
export const keyLookupCases: readonly KeyLookupCase[] = Object.freeze([
  keyCase('a key is found for its tenant, with its scopes', async (harness) => {
    const first = await save(harness)
    const second = await save(harness, { key: 'acme-key-2', scopes: [] })
    const third = await save(harness, { key: 'globex-key', tenantSlug: 'globex', scopes: ['webhooks:read'] })
    same(show(await lookUp(harness, 'acme', first)), scopes, 'the scopes of the first key of acme')
    same(show(await lookUp(harness, 'acme', second)), [], 'the scopes of a key without any')
    same(show(await lookUp(harness, 'globex', third)), ['webhooks:read'], 'the scopes of the key of globex')
  }),

  keyCase('every key has its own id, which does not contain the key', async (harness) => {
    const keys = [await save(harness), await save(harness, { key: 'acme-key-2' })] as const
    const ids = (await Promise.all(keys.map((key) => lookUp(harness, 'acme', key)))).map((owner) => owner?.id)
    same(ids.map((found) => typeof found), ['string', 'string'], 'the types of the ids of two keys')
    same(new Set(ids).size, 2, 'the number of different ids of two keys')
    holds(
      keys.every((key, index) => ids[index] !== '' && !String(ids[index]).includes(key)),
      'no id is empty or contains its key'
    )
    same((await lookUp(harness, 'acme', keys[0]))?.id, ids[0],
      'the id of the first key, looked up again')
  }),

  keyCase('a key of another tenant, or for an unknown tenant, is null', async (harness) => {
    const mine = await save(harness)
    const theirs = await save(harness, { key: 'globex-key', tenantSlug: 'globex' })
    for (const tenantSlug of [
      'globex',
      'nobody',
      'ACME',
      'Acme',
      'acme ',
      'acm_',
      '%',
      '__proto__',
      "acme' or '1'='1"
    ]) {
      same(await lookUp(harness, tenantSlug, mine), null, `the key of acme for ${JSON.stringify(tenantSlug)}`)
    }
    same(await lookUp(harness, 'acme', theirs), null, 'the key of globex for acme')
  }),

  keyCase('an unknown key is null, even if it is similar to a known one', async (harness) => {
    const key = await save(harness)
    const otherCases = [key.toUpperCase(), key.toLowerCase()].filter((other) => other !== key)
    const similar = [...otherCases, key.slice(0, -1), `${key}x`, `x${key}`, key.slice(1)]
    for (const other of [...similar, ...strangers]) {
      same(await lookUp(harness, 'acme', other), null, `the unknown key ${JSON.stringify(other)}`)
    }
    same(show(await lookUp(harness, 'acme', key)), scopes, 'the scopes of the known key')
  }),

  keyCase('an expired key is null', async (harness) => {
    const valid = await save(harness)
    const expired = await harness.save({ key: 'acme-key-2', tenantSlug: 'acme', scopes, state: 'expired' })
    if (expired !== null) same(await lookUp(harness, 'acme', expired), null, 'the expired key')
    same(show(await lookUp(harness, 'acme', valid)), scopes, 'the scopes of another key')
  }),

  keyCase('a revoked key is null', async (harness) => {
    const valid = await save(harness)
    const revoked = await harness.save({ key: 'acme-key-2', tenantSlug: 'acme', scopes, state: 'revoked' })
    if (revoked !== null) same(await lookUp(harness, 'acme', revoked), null, 'the revoked key')
    same(show(await lookUp(harness, 'acme', valid)), scopes, 'the scopes of another key')
  }),

  keyCase('concurrent lookups each find their own key', async (harness) => {
    const keys = [await save(harness), await save(harness, { key: 'acme-key-2', scopes: ['a:b'] }), 'unknown']
    const found = await Promise.all([...keys, ...keys].map((key) => lookUp(harness, 'acme', key)))
    same(found.map(show), [scopes, ['a:b'], null, scopes, ['a:b'], null], 'the scopes of six concurrent lookups')
  }),

  keyCase('noting the use of a key, known or not, returns at once and does not throw', async (harness) => {
    const key = await save(harness)
    const owner = await lookUp(harness, 'acme', key)
    for (const id of [String(owner?.id), 'unknown', '']) {
      same(harness.lookup.recordUse?.(id), undefined, `the result of recordUse for the id ${JSON.stringify(id)}`)
    }
    same(show(await lookUp(harness, 'acme', key)), scopes, 'the scopes afterwards')
  }),

  keyCase('changing a returned owner gives a key no further scopes', async (harness) => {
    const key = await save(harness)
    const owner = await lookUp(harness, 'acme', key)
    try {
      if (owner !== null) Reflect.apply(Array.prototype.push, owner.scopes, ['webhooks:write'])
    } catch {
      // A frozen array protects the stored scopes as well as a copy does.
    }
    same(show(await lookUp(harness, 'acme', key)), scopes, 'the scopes, looked up again')
  }),

  ...keyStoreCases
])

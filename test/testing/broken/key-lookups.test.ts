import t from 'tap'
import { hashApiKey } from '../../../src/keys/api-key.js'
import type { KeyLookup } from '../../../src/ports/index.js'
import { type KeyHarness, keyLookupCases, runCases, type SavedKey } from '../../../src/testing/index.js'

type Find = (keys: readonly SavedKey[], credentials: Parameters<KeyLookup>[0]) => ReturnType<KeyLookup>

const owner = ({ key, scopes }: SavedKey): { id: string, scopes: string[] } => ({ id: hashApiKey(key).slice(0, 8), scopes: [...scopes] })

function isValid ({ state }: SavedKey): boolean {
  return state === 'valid'
}

const right: Find = async (keys, { tenantSlug, key }) => {
  const found = keys.find((known) => known.key === key && known.tenantSlug === tenantSlug && isValid(known))
  return found === undefined ? null : owner(found)
}

const mistakes: Array<[lookup: string, caughtBy: string, find: Find]> = [
  ['ignores the tenant', 'a key of another tenant, or for an unknown tenant, is null', async (keys, { key }) => {
    const found = keys.find((known) => known.key === key && isValid(known))
    return found === undefined ? null : owner(found)
  }],
  ['takes no notice of letter case', 'an unknown key is null, even if it is similar to a known one', (keys, { tenantSlug, key }) =>
    right(keys, { tenantSlug, tenantId: tenantSlug, key: key.toLowerCase() })],
  ['compares beginnings', 'an unknown key is null, even if it is similar to a known one', async (keys, { tenantSlug, key }) => {
    const found = keys.find((known) => key.startsWith(known.key) && known.tenantSlug === tenantSlug && isValid(known))
    return found === undefined ? null : owner(found)
  }],
  ['rejects for what it cannot read', 'an unknown key is null, even if it is similar to a known one', async (keys, credentials) => {
    if (credentials.key.includes('.')) throw new Error('not a key')
    return right(keys, credentials)
  }],
  ['ignores expiry', 'an expired key is null', (keys, credentials) =>
    right(keys.map((known) => ({ ...known, state: known.state === 'expired' ? 'valid' : known.state })), credentials)],
  ['ignores revocation', 'a revoked key is null', (keys, credentials) =>
    right(keys.map((known) => ({ ...known, state: known.state === 'revoked' ? 'valid' : known.state })), credentials)],
  ['gives all scopes', 'a key is found for its tenant, with its scopes', async (keys, credentials) => {
    const found = await right(keys, credentials)
    return found && { ...found, scopes: [...found.scopes, 'webhooks:write'] }
  }],
  ['shows the key as its id', 'every key has its own id, which does not contain the key', async (keys, credentials) => {
    const found = await right(keys, credentials)
    return found && { ...found, id: `key ${credentials.key}` }
  }],
  ['hands out the scopes it keeps', 'changing a returned owner gives a key no further scopes', async (keys, credentials) => {
    const found = keys.find((known) => known.key === credentials.key)
    return await right(keys, credentials) && found ? { ...owner(found), scopes: found.scopes } : null
  }]
]

function makeHarness (find: Find): KeyHarness {
  const keys: SavedKey[] = []
  return {
    lookup: (credentials) => find(keys, credentials),
    save (key) {
      keys.push({ ...key, scopes: [...key.scopes] })
      return key.key
    },
    close () {}
  }
}

t.test('a lookup that is right passes all cases', async (t) => {
  const results = await runCases(keyLookupCases, () => makeHarness(right))
  t.strictSame(results.filter(({ error }) => error !== null), [])
})

t.test('a lookup that freezes what it hands out passes all cases', async (t) => {
  const results = await runCases(keyLookupCases, () => makeHarness(async (keys, credentials) => {
    const found = await right(keys, credentials)
    return found && { ...found, scopes: Object.freeze([...found.scopes]) }
  }))
  t.strictSame(results.filter(({ error }) => error !== null), [])
})

for (const [lookup, caughtBy, find] of mistakes) {
  t.test(`a lookup that ${lookup} is caught by: ${caughtBy}`, async (t) => {
    const results = await runCases(keyLookupCases, () => makeHarness(find))
    const caught = results.filter(({ error }) => error !== null).map(({ name }) => name)
    t.ok(caught.includes(caughtBy), 'the case fails', { caught })
  })
}

t.test('a lookup that throws or keeps a request waiting when a use is noted is caught', async (t) => {
  const wrong = [() => { throw new Error('unknown') }, async () => {}]
  for (const recordUse of wrong) {
    const results = await runCases(keyLookupCases, () => {
      const harness = makeHarness(right)
      return { ...harness, lookup: Object.assign(harness.lookup, { recordUse }) }
    })
    t.strictSame(results.filter(({ error }) => error !== null).map(({ name }) => name), [
      'noting the use of a key, known or not, returns at once and does not throw'
    ])
  }
})

t.test('a harness that cannot make a valid key fails with a reason', async (t) => {
  const results = await runCases(keyLookupCases, () => ({ ...makeHarness(right), save: () => null }))
  t.ok(results.every(({ error }) => error?.message === 'the harness can make a valid key'))
})

t.test('a lookup whose keys are never revoked and never expire passes', async (t) => {
  const results = await runCases(keyLookupCases, () => {
    const harness = makeHarness(right)
    return { ...harness, save: (key) => key.state === 'valid' ? harness.save(key) : null }
  })
  t.strictSame(results.filter(({ error }) => error !== null), [])
})

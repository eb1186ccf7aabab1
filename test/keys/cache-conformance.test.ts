import t from 'tap'
import { cacheKeyLookup } from '../../src/index.js'
import { memoryKeyLookup } from '../../src/memory/index.js'
import { type KeyHarness, keyLookupCases } from '../../src/testing/index.js'

function makeHarness (): KeyHarness {
  const keys: Parameters<typeof memoryKeyLookup>[0][number][] = []
  return {
    lookup: cacheKeyLookup((credentials) => memoryKeyLookup(keys)(credentials)),
    save ({ state, ...key }) {
      keys.push({ ...key, revoked: state === 'revoked', ...(state === 'expired' ? { expiresAt: '2020-01-01T00:00:00Z' } : {}) })
      return key.key
    }
  }
}

for (const { name, run } of keyLookupCases) t.test(name, () => run(makeHarness))

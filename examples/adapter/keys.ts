import { type KeyLookup, hashApiKey } from 'fastify-recruiting-api'
import { type SavedKey, formatReport, keyLookupCases, runCases } from 'fastify-recruiting-api/testing'

interface KnownKey {
  id: string
  tenantSlug: string
  digest: string
  scopes: readonly string[]
  state: SavedKey['state']
}

/** Stands in for a query on your table, with conditions on the digest, the tenant and the state. */
export function createKeyLookup (keys: readonly KnownKey[]): KeyLookup {
  return async ({ tenantSlug, key }) => {
    const digest = hashApiKey(key)
    const known = keys.find((one) => one.digest === digest && one.tenantSlug === tenantSlug && one.state === 'valid')
    return known === undefined ? null : { id: known.id, scopes: [...known.scopes] }
  }
}

if (/keys\.[jt]s$/.test(process.argv[1] ?? '')) {
  const results = await runCases(keyLookupCases, () => {
    const keys: KnownKey[] = []
    return {
      lookup: createKeyLookup(keys),
      save ({ key, ...known }) {
        keys.push({ ...known, id: `key_${keys.length}`, digest: hashApiKey(key) })
        return key
      }
    }
  })
  console.log(formatReport(results))
}

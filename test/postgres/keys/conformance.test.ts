import t from 'tap'
import { cacheKeyLookup } from '../../../src/index.js'
import { apiKeys, migrate, postgresKeyLookup } from '../../../src/postgres/index.js'
import { type KeyHarness, keyLookupCases } from '../../../src/testing/index.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'

for (const prefix of [undefined, 'acme']) {
  t.test(`keys of PostgreSQL keep every promise of the port, ${prefix === undefined ? 'as they are' : 'with a prefix and a cache'}`, async (t) => {
    const server = await startPostgres(t)
    const pool = server.createPool()
    await migrate(pool)
    const options = prefix === undefined ? {} : { prefix }
    const keys = apiKeys(pool, { ...options, ownScopes: ['a:b'] })

    async function makeHarness (): Promise<KeyHarness> {
      await pool.query('delete from recruiting.api_keys')
      const lookup = postgresKeyLookup(pool, options)
      return {
        lookup: prefix === undefined ? lookup : cacheKeyLookup(lookup),
        async save ({ tenantSlug, scopes, state }) {
          const { id, key } = await keys.issue({ tenantSlug, scopes, ...(state === 'expired' ? { expiresAt: '2020-01-01T00:00:00Z' } : {}) })
          if (state === 'revoked') await keys.revoke({ tenantSlug }, id)
          return key
        }
      }
    }

    for (const { name, run } of keyLookupCases) await t.test(name, () => run(makeHarness))
  })
}

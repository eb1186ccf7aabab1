import type { Test } from 'tap'
import type { FastifyInstance } from 'fastify'
import { checkError } from '../../fixtures/api/answers.js'
import { changedIds, followSync, requestSync } from '../../fixtures/sync/sync-client.js'
import { testHandOvers } from '../../fixtures/tenants/hand-over.js'
import { type CreateTenantStore, createVendor } from '../../fixtures/tenants/vendor.js'

/** The token of a sync, which is valid for months. */
export function testSyncTokens (t: Test, createStore: CreateTenantStore): void {
  for (const { title, change } of [
    { title: 'that changed rows', change: async (app: FastifyInstance) => app.recruiting.changed({ tenantSlug: 'acme', kind: 'candidate', id: 1 }) },
    { title: 'that changed nothing', change: async () => {} }
  ]) {
    testHandOvers(t, createStore, `the sync token of a tenant ${title} gets 410 from the next tenant with its slug`, async (t, story) => {
      const { server: { app }, setCandidates, keys, handOver } = story
      await setCandidates(String(keys.get('old-key')), [1])
      const { token } = await followSync(app, { key: 'old-key' })
      await change(app)
      await handOver()
      checkError(t, await requestSync(app, { key: 'new-key', token }), 410, 'at once')
      await setCandidates(String(keys.get('new-key')), [11])
      checkError(t, await requestSync(app, { key: 'new-key', token }), 410, 'after a change')
      const fresh = await followSync(app, { key: 'new-key' })
      t.equal((await requestSync(app, { key: 'new-key', token: fresh.token })).statusCode, 200)
    })
  }

  t.test('the sync of a tenant with an id goes on after it is renamed', async (t) => {
    const { companies, setCandidates, start } = await createVendor(t, { createStore, hasIds: true })
    const { app } = await start()
    await setCandidates('41', [1])
    const { token } = await followSync(app, { key: 'old-key' })
    companies.delete('acme')
    companies.set('acme-old', 41)
    await app.recruiting.renameTenant('acme', 'acme-old')
    await setCandidates('41', [1, 2])
    await app.recruiting.changed({ tenantSlug: 'acme-old', kind: 'candidate', id: 2 })
    const { pages } = await followSync(app, { tenantSlug: 'acme-old', key: 'old-key', token })
    t.ok(changedIds(pages).includes('2'))
  })
}

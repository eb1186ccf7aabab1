import type { Test } from 'tap'
import { checkError, comparable } from '../../fixtures/api/answers.js'
import { testHandOvers } from '../../fixtures/tenants/hand-over.js'
import { type CreateTenantStore, createVendor } from '../../fixtures/tenants/vendor.js'

/** A key in the cache, which is kept for an hour, and the links of a page. */
export function testKeys (t: Test, createStore: CreateTenantStore): void {
  testHandOvers(t, createStore, 'a cached key gets the same 401 as an unknown one from the next tenant with its slug', async (t, { server, handOver }) => {
    const { ask } = server
    t.equal((await ask('/acme/candidates', 'old-key')).statusCode, 200, 'before')
    await handOver()
    const unknown = comparable(await ask('/acme/candidates', 'unknown'))
    t.equal(comparable(await ask('/acme/candidates', 'old-key')), unknown)
    t.equal(comparable(await ask('/acme/webhooks', 'old-key')), unknown)
    t.equal((await ask('/acme/candidates', 'new-key')).statusCode, 200)
  })

  testHandOvers(t, createStore, 'a link to the next page leads the previous tenant nowhere, and the next one to its own rows', async (t, story) => {
    const { server: { ask }, setCandidates, keys, handOver } = story
    await setCandidates(String(keys.get('old-key')), [1, 2, 3])
    const { headers } = await ask('/acme/candidates?per_page=1', 'old-key')
    const next = /<\/api\/v1\/public([^>]*)>; rel="next"/.exec(String(headers.link))?.[1] ?? ''
    t.match(next, '/acme/candidates?')
    await handOver()
    await setCandidates(String(keys.get('new-key')), [11, 12])
    checkError(t, await ask(next, 'old-key'), 401)
    const { data } = JSON.parse((await ask(next, 'new-key')).body) as { data: Array<{ id: number }> }
    t.ok(data.every(({ id }) => id > 10), 'no row of the previous tenant')
  })

  t.test('a cached key goes along when a tenant with an id is renamed', async (t) => {
    const { companies, start } = await createVendor(t, { createStore, hasIds: true })
    const { ask } = await start()
    t.equal((await ask('/acme/candidates', 'old-key')).statusCode, 200)
    companies.delete('acme')
    companies.set('acme-old', 41)
    t.equal((await ask('/acme-old/candidates', 'old-key')).statusCode, 200)
    checkError(t, await ask('/acme/candidates', 'old-key'), 401, 'the old slug')
  })
}

import type { Test } from 'tap'
import { checkError } from '../../fixtures/api/answers.js'
import { webhookInput } from '../../fixtures/api/webhook-api.js'
import { createToken } from '../../fixtures/portal/sessions.js'
import { testHandOvers } from '../../fixtures/tenants/hand-over.js'
import { type CreateTenantStore, createVendor } from '../../fixtures/tenants/vendor.js'

/** A session of the portal, which lasts an hour and is known to no storage. */
export function testSessions (t: Test, createStore: CreateTenantStore): void {
  testHandOvers(t, createStore, 'a session sees and changes nothing of the next tenant with its slug', async (t, { server, handOver }) => {
    const { app, ask, read } = server
    const { token } = await app.recruiting.portal.createSession({ tenantSlug: 'acme', actor: 'user:17', expiresInSeconds: 3600 })
    t.equal((await ask('/acme/webhooks', token)).statusCode, 200, 'before')
    await handOver()
    const { id } = await read<{ id: number }>('/acme/webhooks', 'new-key', { method: 'POST', payload: webhookInput })
    checkError(t, await ask('/acme/webhooks', token), 401, 'the list')
    checkError(t, await ask('/acme/webhooks', token, { method: 'POST', payload: webhookInput }), 401, 'a new webhook')
    checkError(t, await ask(`/acme/webhooks/${id}/rotate_secret`, token, { method: 'POST' }), 401, 'a new secret')
    t.equal((await read<unknown[]>('/acme/webhooks', 'new-key')).length, 1)
  })

  t.test('a session goes along when a tenant with an id is renamed', async (t) => {
    const { companies, start } = await createVendor(t, { createStore, hasIds: true })
    const { app, ask } = await start()
    const token = await createToken(app)
    companies.delete('acme')
    companies.set('acme-old', 41)
    t.equal((await ask('/acme-old/webhooks', token)).statusCode, 200)
    checkError(t, await ask('/acme/webhooks', token), 401, 'the old slug')
  })

  t.test('a session does not go along when a tenant without an id is renamed', async (t) => {
    const { keys, start } = await createVendor(t, { createStore, hasIds: false })
    const { app, ask } = await start()
    const token = await createToken(app)
    await app.recruiting.renameTenant('acme', 'acme-old')
    keys.set('renamed-key', 'acme-old')
    checkError(t, await ask('/acme/webhooks', token), 401, 'the old slug')
    checkError(t, await ask('/acme-old/webhooks', token), 401, 'the new slug')
    t.equal((await ask('/acme-old/webhooks', 'renamed-key')).statusCode, 200)
  })
}

import type { Test } from 'tap'
import { isRecruitingApiError } from '../../../src/index.js'
import { checkError } from '../../fixtures/api/answers.js'
import { collect } from '../../fixtures/collect.js'
import { webhookInput } from '../../fixtures/api/webhook-api.js'
import { restMs } from '../../fixtures/tenants/hand-over.js'
import { type CreateTenantStore, type VendorServer, createVendor } from '../../fixtures/tenants/vendor.js'

const event = { tenantSlug: 'acme', type: 'application.created', data: { id: 1 } } as const
const post = { method: 'POST', payload: webhookInput } as const

/** Every call by code that takes a slug. */
function listCalls ({ app: { recruiting } }: VendorServer): Record<string, () => Promise<unknown>> {
  const { webhooks } = recruiting
  return {
    emit: () => recruiting.emit(event),
    erase: () => recruiting.erase({ tenantSlug: 'acme', subject: 'candidate:1' }),
    findSubject: () => collect(recruiting.findSubject('acme', 'candidate:1')),
    changed: () => recruiting.changed({ tenantSlug: 'acme', kind: 'job', id: 1 }),
    renameTenant: () => recruiting.renameTenant('globex', 'acme'),
    createSession: () => recruiting.portal.createSession({ tenantSlug: 'acme', actor: 'user:17' }),
    list: () => webhooks.list('acme'),
    find: () => webhooks.find('acme', 1),
    create: () => webhooks.create('acme', webhookInput),
    update: () => webhooks.update('acme', 1, { name: 'x' }),
    delete: () => webhooks.delete('acme', 1),
    rotateSecret: () => webhooks.rotateSecret('acme', 1),
    sendTest: () => webhooks.sendTest('acme', 1),
    replay: () => webhooks.replay('acme', 1),
    listDeliveries: () => webhooks.listDeliveries('acme', 1),
    findDelivery: () => webhooks.findDelivery('acme', 1, 1),
    retryDelivery: () => webhooks.retryDelivery('acme', 1, 1)
  }
}

async function codeOf (call: () => Promise<unknown>): Promise<unknown[]> {
  return call().then(() => ['no error'], (error: unknown) => isRecruitingApiError(error) ? [error.code, error.until, error.field] : [error])
}

/** The hour in which nothing can use the slug of a tenant that was renamed or removed. */
export function testRest (t: Test, createStore: CreateTenantStore): void {
  for (const { title, end } of [
    { title: 'removed', end: ({ app }: VendorServer) => app.recruiting.removeTenant('acme') },
    { title: 'renamed', end: ({ app }: VendorServer) => app.recruiting.renameTenant('acme', 'acme-new') }
  ]) {
    t.test(`for 61 minutes nothing can use the slug of a ${title} tenant`, async (t) => {
      const { clock, pass, start } = await createVendor(t, { createStore, hasIds: false })
      const server = await start()
      await server.read('/acme/webhooks', 'old-key', post)
      const calls = listCalls(server)
      const from = clock.now()
      await end(server)
      for (const at of [0, restMs - 1000]) {
        await pass(at)
        checkError(t, await server.ask('/acme/candidates', 'old-key'), 401, `after ${at} ms, a list`)
        checkError(t, await server.ask('/acme/webhooks', 'old-key', post), 401, `after ${at} ms, a new webhook`)
        for (const [name, call] of Object.entries(calls)) {
          const [code, until, field] = await codeOf(call)
          t.same([code, field], ['tenant_resting', 'tenantSlug'], `after ${at} ms, ${name}`)
          const restedMs = Date.parse(String(until)) - from
          if (at === 0) t.ok(Math.abs(restedMs - restMs) < 60_000, `${name} says until when, ${restedMs} ms`)
        }
      }
      await pass(2000)
      await server.app.recruiting.emit(event)
      t.equal((await server.ask('/acme/webhooks', 'old-key', post)).statusCode, 201)
    })
  }

  t.test('another process learns within a minute that a slug rests, and stores nothing under it before that', async (t) => {
    const { pass, start } = await createVendor(t, { createStore, hasIds: false })
    const [first, second] = [await start(), await start()]
    t.equal((await second.ask('/acme/candidates', 'old-key')).statusCode, 200)
    await first.app.recruiting.removeTenant('acme')
    checkError(t, await second.ask('/acme/webhooks', 'old-key', post), 401, 'a new webhook at once')
    t.equal((await codeOf(() => second.app.recruiting.emit(event)))[0], 'tenant_resting', 'an emit at once')
    await pass(60_001)
    checkError(t, await second.ask('/acme/candidates', 'old-key'), 401, 'a list after a minute')
    t.same(await first.app.recruiting.removeTenant('acme'), { left: 0 }, 'nothing was recorded')
  })

  t.test('a session and a cached key also end in a process that learns of a removal late', async (t) => {
    const { keys, pass, start } = await createVendor(t, { createStore, hasIds: false })
    const [first, second] = [await start(), await start()]
    await second.ask('/acme/candidates', 'unknown')
    await pass(59_000)
    // The first request starts to read the names again, and the read ends before the other requests do.
    for (let asked = 0; asked < 3; asked++) await second.ask('/acme/candidates', 'unknown')
    await first.app.recruiting.removeTenant('acme')
    await pass(1000)
    const session = { tenantSlug: 'acme', actor: 'user:17', expiresInSeconds: 3600 }
    const { token } = await second.app.recruiting.portal.createSession(session)
    t.equal((await second.ask('/acme/candidates', 'old-key')).statusCode, 200, 'it had not learned')
    keys.delete('old-key')
    await pass(restMs - 1000)
    keys.set('new-key', 'acme')
    await second.read('/acme/webhooks', 'new-key', post)
    for (const key of [token, 'old-key']) checkError(t, await second.ask('/acme/webhooks', key), 401)
  })
}

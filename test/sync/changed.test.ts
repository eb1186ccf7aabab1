import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { memoryStorage } from '../../src/memory/index.js'
import { buildApp } from '../fixtures/api/app.js'
import { changedIds, followSync } from '../fixtures/sync/sync-client.js'

t.test('a process without a server records changes', async (t) => {
  const storage = memoryStorage()
  const app = await buildApp(t, { storage })
  const { token } = await followSync(app, { resource: 'jobs' })
  const recruiting = createRecruiting({ storage, delivery: false })
  t.equal(await recruiting.changed({ tenantSlug: 'acme', kind: 'job', id: 7, deleted: true }), undefined)
  t.same((await recruiting.stats()).changes, { heldBackMs: 0, heldBackBy: null })
  await recruiting.close()
  t.same(changedIds((await followSync(app, { resource: 'jobs', token })).pages), ['-7'])
  await t.rejects(recruiting.changed({ tenantSlug: 'acme', kind: 'job', id: 7 }), { code: 'closed' })
})

t.test('a change that is not valid is refused, and the error names the field', async (t) => {
  const storage = memoryStorage({ ids: { job: 'string' } })
  const app = await buildApp(t, { storage, ids: { job: 'string' } })
  const start = await storage.changes.begin('acme', 'candidate')
  const valid = { tenantSlug: 'acme', kind: 'candidate', id: 1, deleted: false }
  const wrong: Array<[object, string]> = [
    [{ tenantSlug: '' }, 'tenantSlug'], [{ tenantSlug: 'a\nb' }, 'tenantSlug'], [{ kind: 'person' }, 'kind'], [{ kind: undefined }, 'kind'],
    [{ id: '1' }, 'id'], [{ id: 0 }, 'id'], [{ id: -1 }, 'id'], [{ id: 1.5 }, 'id'], [{ id: 2 ** 53 }, 'id'], [{ id: undefined }, 'id'],
    [{ kind: 'job', id: 1 }, 'id'], [{ kind: 'job', id: 'a/b' }, 'id'], [{ kind: 'job', id: '' }, 'id'], [{ kind: 'job', id: 'x'.repeat(65) }, 'id'],
    [{ deleted: 'yes' }, 'deleted'], [{ delete: true }, 'delete']
  ]
  for (const [change, field] of wrong) {
    await t.rejects(app.recruiting.changed({ ...valid, ...change } as never), { code: 'invalid_input', field }, JSON.stringify(change))
  }
  await t.rejects(app.recruiting.changed(null as never), { code: 'invalid_input' })
  await t.rejects(app.recruiting.changed(valid as never, { transacton: 1 } as never), { code: 'invalid_event', field: 'transacton' })
  await t.rejects(app.recruiting.changed(valid as never, { transaction: {} }), { code: 'invalid_event', field: 'transaction' })
  t.same((await storage.changes.list('acme', 'candidate', { after: start, limit: 10 }))?.ids, [])
})

t.test('a storage without changes refuses them, and its statistics have none', async (t) => {
  const { changes, ...storage } = memoryStorage()
  const app = await buildApp(t, { storage })
  await t.rejects(app.recruiting.changed({ tenantSlug: 'acme', kind: 'job', id: 1 }), { code: 'invalid_option', field: 'storage.changes' })
  t.equal((await app.recruiting.stats()).changes, null)
  t.equal(await app.recruiting.prune(), 0)
})

t.test('positions of a renamed or removed tenant are no longer known', async (t) => {
  const storage = memoryStorage()
  const app = await buildApp(t, { storage })
  const start = await storage.changes.begin('acme', 'candidate')
  await app.recruiting.changed({ tenantSlug: 'acme', kind: 'candidate', id: 1 })
  await app.recruiting.renameTenant('acme', 'initech')
  const list = (tenantSlug: string) => storage.changes.list(tenantSlug, 'candidate', { after: start, limit: 10 })
  t.same([await list('acme'), await list('initech')], [null, null])
  const next = await storage.changes.begin('initech', 'candidate')
  t.match(await storage.changes.list('initech', 'candidate', { after: next, limit: 10 }), { ids: [] })
  await app.recruiting.renameTenant('nobody', 'somebody')
  await app.recruiting.removeTenant('initech')
  t.equal(await storage.changes.list('initech', 'candidate', { after: next, limit: 10 }), null)
})

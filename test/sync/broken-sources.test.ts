import Fastify from 'fastify'
import t from 'tap'
import recruitingApi from '../../src/index.js'
import { memoryKeyLookup, memoryStorage } from '../../src/memory/index.js'
import { checkError } from '../fixtures/api/answers.js'
import { apiKeys, buildApp, tenants } from '../fixtures/api/app.js'
import { captureLogs } from '../fixtures/api/logs.js'
import { changedIds, followSync, requestSync } from '../fixtures/sync/sync-client.js'

t.test('rows that share an id, or are not in order, get 500, and the log names the method', async (t) => {
  const problem = (id: number) => `candidates.listAfter returned the id ${id} twice, or not in ascending order`
  for (const [ids, message] of [[[1, 1], problem(1)], [[2, 1], problem(1)]] as const) {
    const logs = captureLogs()
    const storage = memoryStorage({ tenants })
    storage.candidates.listAfter = async () => ids.map((id) => ({ id, full_name: 'x', headline: null, source_id: null }))
    const app = await buildApp(t, { storage, server: { logger: logs.logger } })
    checkError(t, await requestSync(app), 500)
    t.same(logs.lines.filter(({ level }) => level === 50).map(({ err }) => err?.message), [message])
  }
  const storage = memoryStorage({ tenants })
  const app = await buildApp(t, { storage })
  const { meta } = JSON.parse((await requestSync(app, { perPage: 2 })).body)
  storage.candidates.listAfter = async () => [{ id: 2, full_name: 'x', headline: null, source_id: null }]
  checkError(t, await requestSync(app, { token: meta.next_token }), 500, 'a row that the page before had')
})

t.test('a row whose id is of another type gets 500, and the log names the method', async (t) => {
  const logs = captureLogs()
  const storage = memoryStorage({ tenants })
  const app = await buildApp(t, { storage, server: { logger: logs.logger } })
  const { token } = await followSync(app)
  const row = { id: '1', full_name: 'x', headline: null, source_id: null }
  storage.candidates.listAfter = async () => [row] as never
  storage.candidates.findMany = async () => [row] as never
  await app.recruiting.changed({ tenantSlug: 'acme', kind: 'candidate', id: 1 })
  checkError(t, await requestSync(app), 500)
  checkError(t, await requestSync(app, { token }), 500)
  t.same(logs.lines.filter(({ level }) => level === 50).map(({ err }) => String(err?.message).split(' returned')[0]), ['candidates.listAfter', 'candidates.findMany'])
})

t.test('a secret that cannot be read once is read again', async (t) => {
  const storage = memoryStorage({ tenants })
  const { tokenSecret } = storage.changes
  let reads = 0
  storage.changes.tokenSecret = () => ++reads === 1 ? Promise.reject(new Error('down')) : tokenSecret()
  const app = await buildApp(t, { storage })
  checkError(t, await requestSync(app), 500)
  t.same(changedIds((await followSync(app)).pages), ['1', '2', '3'])
  await followSync(app)
  t.equal(reads, 2)
})

t.test('changes without all of their methods are refused', async (t) => {
  const keyLookup = memoryKeyLookup(apiKeys)
  async function register (storage: object): Promise<void> {
    const app = Fastify()
    await app.register(recruitingApi, { storage: storage as never, keyLookup, delivery: false })
    await app.close()
  }
  const storage = memoryStorage()
  const { begin, ...changes } = storage.changes
  await t.rejects(register({ ...storage, changes }), { code: 'invalid_option', field: 'storage.changes.begin' })
  await t.rejects(register({ ...storage, changes: null }), { code: 'invalid_option', field: 'storage.changes' })
  await t.resolves(register({ ...storage, changes: undefined }))
})

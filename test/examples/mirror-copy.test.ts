import t from 'tap'
import { memoryStorage } from '../../src/memory/index.js'
import { countItems, openCopy, openDatabase } from '../../examples/mirror/copy.js'
import { type SyncItem, sync } from '../../examples/mirror/sync.js'
import { buildApp, keys, tenants } from '../fixtures/api/app.js'

const present = (id: number): SyncItem => ({ id, deleted: false, candidate: { id, full_name: `Name ${id}` } }) as SyncItem
const gone = (id: number): SyncItem => ({ id, deleted: true, candidate: null }) as SyncItem

t.test('a copy saves items and token together, and after a new beginning drops what did not come again', async (t) => {
  const database = openDatabase(`${t.testdir()}/mirror.db`)
  t.teardown(() => { database.close() })
  const candidates = openCopy(database, 'candidates')
  const jobs = openCopy(database, 'jobs')
  const readIds = () => database.all("select id from items where resource = 'candidates' order by id").map(({ id }) => id)
  const save = (data: SyncItem[], token: string, hasMore = false) => { candidates.save({ data, meta: { next_token: token, has_more: hasMore } }) }
  t.equal(candidates.token, null)

  save([present(1), present(2), present(3)], 'a')
  save([gone(2), present(4)], 'b')
  t.same([readIds(), candidates.token, countItems(database, 'candidates')], [[1, 3, 4], 'b', 3])
  t.same([jobs.token, countItems(database, 'jobs')], [null, 0], 'another resource has its own')

  const broken = { get deleted (): boolean { throw new Error('half a page') } } as SyncItem
  t.throws(() => save([gone(1), broken], 'c'), { message: 'half a page' })
  t.same([readIds(), candidates.token], [[1, 3, 4], 'b'], 'nothing of a page that failed')

  candidates.beginAgain()
  t.equal(candidates.token, null)
  save([present(3)], 'd', true)
  t.same(readIds(), [1, 3, 4], 'nothing is dropped before the end')
  save([present(5)], 'e')
  t.same([readIds(), candidates.token], [[3, 5], 'e'])
})

t.test('the loop begins again after a 410, and rejects with any other error', async (t) => {
  const app = await buildApp(t, { storage: memoryStorage({ tenants }) })
  const url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/api/v1/public/acme/jobs/sync`
  const database = openDatabase(`${t.testdir()}/mirror.db`)
  t.teardown(() => { database.close() })
  const jobs = openCopy(database, 'jobs')
  jobs.save({ data: [{ id: 9, deleted: false, job: { id: 9 } } as SyncItem], meta: { next_token: 'made-up', has_more: false } })
  await t.rejects(sync({ url, key: 'wrong' }, jobs), { message: 'sync got 401' })
  await sync({ url, key: keys.full, perPage: 1 }, jobs)
  t.same(database.all('select id from items order by id'), [{ id: 1 }, { id: 2 }])
})

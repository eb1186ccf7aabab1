import t from 'tap'
import { requestSync } from '../../fixtures/sync/sync-client.js'
import { startSyncedPeople } from '../../fixtures/sync/synced-people.js'

t.test('without watch there is no sync, in the document neither', async (t) => {
  const { serve, watchPeople } = await startSyncedPeople(t)
  const pathsOf = async (app: Awaited<ReturnType<typeof serve>>) =>
    Object.keys((await app.inject('/api/v1/public/openapi.json')).json().paths).filter((path) => path.endsWith('sync')).map((path) => path.split('/').at(-2))
  const unwatched = await serve()
  for (const resource of ['candidates', 'jobs'] as const) t.equal((await requestSync(unwatched, { resource })).statusCode, 404)
  t.strictSame(await pathsOf(unwatched), [])

  await watchPeople()
  const watched = await serve()
  t.equal((await requestSync(watched)).statusCode, 200)
  t.equal((await requestSync(watched, { resource: 'jobs' })).statusCode, 404, 'of the other kind')
  t.strictSame(await pathsOf(watched), ['candidates'])
})

t.test("with changes: 'manual' there is sync, because the host calls changed", async (t) => {
  const { pool, serve, follow, copyOf, itemsOf } = await startSyncedPeople(t)
  const app = await serve({ changes: 'manual' })
  t.equal((await requestSync(app, { resource: 'jobs' })).statusCode, 200)
  t.equal(await follow(), 200)
  await pool.query("delete from crm.people where id = 2; select recruiting.changed('acme', 'candidate', '2')")
  t.equal(await follow(), 200)
  t.strictSame(copyOf(), await itemsOf())
})

t.test("a watched table that lost its triggers ends sync also with changes: 'manual'", async (t) => {
  const { pool, serve, follow, watchPeople } = await startSyncedPeople(t)
  await watchPeople()
  await serve({ changes: 'manual' })
  t.equal(await follow(), 200)
  await pool.query('alter table crm.people disable trigger all')
  t.equal(await follow(), 404)
})

import t from 'tap'
import { storeWebhook } from '../fixtures/api/webhooks.js'
import { begin, startPostgresHost } from '../fixtures/postgres/postgres.js'

t.test("only transactions that wrote webhooks or keys extend a tenant's rest", async (t) => {
  const { pool, storage: { webhooks, ...storage } } = await startPostgresHost(t)
  const listResting = async () => (await webhooks.listStates()).filter(({ restsUntil }) => restsUntil !== null)
  await webhooks.removeTenant('acme', { limit: 100, restSeconds: 60 })
  const other = await begin(pool)
  await other.query('create table unrelated (id integer)')
  await pool.query("update recruiting.tenants set rests_until = now() - interval '1 second' where rests_until is not null")
  t.same(await listResting(), [], 'the open transaction wrote neither')
  await other.query('rollback')

  await storeWebhook({ webhooks, ...storage }, 'globex')
  await other.query('begin')
  await other.query('update recruiting.webhooks set name = name')
  await webhooks.removeTenant('acme', { limit: 100, restSeconds: 60 })
  await pool.query("update recruiting.tenants set rests_until = now() - interval '1 second' where rests_until is not null")
  t.equal((await listResting()).length, 1, 'it may have created a webhook of the tenant')
  await other.finish()
  t.same(await listResting(), [])
  t.ok(await storeWebhook({ webhooks, ...storage }, 'acme'))
})

import { AsyncLocalStorage } from 'node:async_hooks'
import Fastify from 'fastify'
import type pg from 'pg'
import t from 'tap'
import recruitingApi from '../../../src/index.js'
import { memoryKeyLookup } from '../../../src/memory/index.js'
import { type PgPool, migrate, postgresStorage } from '../../../src/postgres/index.js'
import { apiKeys, bearer, keys } from '../../fixtures/api/app.js'
import { createStoryTables, storyRelations } from '../../fixtures/postgres/host-story.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'
import { createUser } from '../../fixtures/postgres/users.js'
import { changedIds, followSync } from '../../fixtures/sync/sync-client.js'

const tenantOf = new AsyncLocalStorage<string>()

/** Tells the server the tenant of the request, as hosts with row-level security do. */
function withTenant (pool: pg.Pool): PgPool {
  const connect = async (): Promise<pg.PoolClient> => {
    const client = await pool.connect()
    await client.query("select set_config('app.tenant', $1, false)", [tenantOf.getStore() ?? ''])
    return client
  }
  return {
    connect,
    async query (text, values) {
      const client = await connect()
      try {
        return await client.query(text, values)
      } finally {
        client.release()
      }
    }
  }
}

t.test('with row-level security on the tables of the host', async (t) => {
  const server = await startPostgres(t)
  const owner = server.createPool()
  await createStoryTables(owner)
  await owner.query(`
    create view visible_people with (security_invoker) as select * from people;
    alter table people enable row level security;
    alter table positions enable row level security;
    create policy tenant on people using (tenant_slug = current_setting('app.tenant'));
    create policy tenant on positions using (tenant_slug = current_setting('app.tenant'))`)
  const pool = await createUser(t, server, owner)

  async function listen (storage: ReturnType<typeof postgresStorage>) {
    const app = Fastify()
    t.teardown(() => app.close())
    app.addHook('onRequest', (request, _reply, done) => {
      tenantOf.run(request.url.split('/')[4] ?? '', done)
    })
    await app.register(recruitingApi, { storage, keyLookup: memoryKeyLookup(apiKeys), delivery: false })
    await app.ready()
    return app
  }

  const names = async (app: Awaited<ReturnType<typeof listen>>, tenant: string, key: string): Promise<string[]> => {
    const answer = await app.inject({ url: `/api/v1/public/${tenant}/candidates`, headers: bearer(key) })
    return answer.json<{ data: Array<{ full_name: string }> }>().data.map(({ full_name: name }) => name)
  }

  await owner.query("insert into people (tenant_slug, id, full_name) values ('acme', 1, 'Ada'), ('globex', 1, 'Hank')")

  for (const candidates of ['public.people', 'public.visible_people']) {
    await t.test(`lists and syncs of ${candidates} work with a pool that sets the tenant of the request`, async (t) => {
      const app = await listen(postgresStorage(withTenant(pool), { ...storyRelations, candidates }))
      t.strictSame([await names(app, 'acme', keys.full), await names(app, 'globex', keys.globex)], [['Ada'], ['Hank']])
      const first = await followSync(app)
      t.strictSame(changedIds(first.pages), ['1'])
      // The trigger records the change, although the writer sees only rows of its tenant.
      await tenantOf.run('acme', () => withTenant(pool).query('update people set updated_at = now()'))
      t.strictSame(changedIds((await followSync(app, { token: first.token })).pages), ['1'])
    })
  }
})

t.test('row-level security that hides all rows of our own tables is refused', async (t) => {
  const server = await startPostgres(t)
  const owner = server.createPool()
  await createStoryTables(owner)
  const pool = await createUser(t, server, owner)
  await owner.query('alter table recruiting.webhooks enable row level security; alter table recruiting.migrations enable row level security')
  const refused = {
    code: 'storage_not_ready',
    field: 'schema',
    message: 'schema: row-level security without a policy hides all rows of migrations, webhooks in "recruiting" from the database user: disable it there, or create policies for this user'
  }
  const check = (database: pg.Pool) => postgresStorage(database, storyRelations).verify(null)
  await t.rejects(check(pool), refused)
  await t.rejects(migrate(pool), refused)
  await t.resolves(check(owner), 'the owner sees all rows')
  await owner.query('create policy all_rows on recruiting.webhooks using (true); create policy all_rows on recruiting.migrations using (true)')
  await t.resolves(check(pool))
})

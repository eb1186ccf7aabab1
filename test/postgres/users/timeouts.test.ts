import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { migrate, postgresStorage, watch } from '../../../src/postgres/index.js'
import { createStoryTables, goodStory, tellStory } from '../../fixtures/postgres/host-story.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { createUser } from '../../fixtures/postgres/users.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { storeWebhook } from '../../fixtures/api/webhooks.js'

const short = ["statement_timeout = '100ms'", "lock_timeout = '100ms'"]

t.test('for a user with a statement_timeout and a lock_timeout', async (t) => {
  t.test('everything works', async (t) => {
    const server = await startPostgres(t)
    const owner = server.createPool()
    await createStoryTables(owner)
    t.strictSame(await tellStory(t, await createUser(t, server, owner, { settings: ["statement_timeout = '5s'", "lock_timeout = '1s'"] })), goodStory)
  })

  t.test('migrate and watch wait longer than these', async (t) => {
    const server = await startPostgres(t)
    const owner = server.createPool()
    await createStoryTables(owner)
    const pool = await createUser(t, server, owner, { settings: short })
    const calls = {
      migrate: () => migrate(pool),
      watch: () => watch(pool, 'public.people', { kind: 'candidate', id: 'id', tenant: 'tenant_slug' })
    }
    for (const [name, call] of Object.entries(calls)) {
      const holder = await owner.connect()
      await holder.query(`begin; select pg_advisory_xact_lock(hashtextextended('fastify-recruiting-api ${name} recruiting', 0))`)
      const waiting: Promise<unknown> = call()
      await sleep(300)
      await holder.query('commit')
      holder.release()
      t.ok(await waiting.then(() => true), name)
    }
  })

  t.test('pruning may take longer than these', async (t) => {
    const { server, pool: owner } = await startPostgresHost(t)
    const { deliveries } = postgresStorage(await createUser(t, server, owner, { settings: ["statement_timeout = '100ms'"] }))
    const holder = await owner.connect()
    await holder.query('begin; lock recruiting.events')
    const pruning = deliveries.prune({ retentionDays: 1, limit: 10 })
    await sleep(300)
    await holder.query('commit')
    holder.release()
    t.equal(await pruning, 0)
  })

  t.test('workers that wait for one another deliver everything once', async (t) => {
    const { server, pool: owner, storage } = await startPostgresHost(t)
    const pool = await createUser(t, server, owner, { settings: ["lock_timeout = '5ms'"] })
    const receiver = await startReceiver(t)
    await storeWebhook(storage, 'acme', { targetUrl: receiver.url })
    const workers = Array.from({ length: 4 }, () => createRecruiting({
      storage: postgresStorage(pool),
      delivery: { allowHttp: true, allowNetworks: ['127.0.0.1/32'], pollMs: 10 }
    }))
    t.teardown(() => Promise.all(workers.map((worker) => worker.close())))
    for (let count = 0; count < 50; count++) await workers[count % 4]?.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
    await workers[0]?.drain()
    t.equal(receiver.requests.length, 50)
  })
})

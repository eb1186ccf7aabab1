import t from 'tap'
import { createRecruiting, isRecruitingApiError } from '../../../src/index.js'
import { apiKeys, migrate, postgresStorage } from '../../../src/postgres/index.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'

const count = 10
const event = { tenantSlug: 'acme', type: 'job.created', data: {} } as const
const webhook = { name: 'CRM', status: 'active', target_url: 'https://example.com', event_types: ['job.created'], secret: 'whsec_a' } as const

for (const level of ['repeatable read', 'serializable']) {
  t.test(`with the default isolation level ${level}`, async (t) => {
    const server = await startPostgres(t)
    const createPool = () => server.createPool({ options: `-c default_transaction_isolation=${level.replace(' ', '\\ ')}` })
    const atOnce = <Result>(call: (number: number) => Promise<Result>): Promise<Result[]> =>
      Promise.all(Array.from({ length: count }, (_, number) => call(number)))

    const migrated = (await atOnce(() => migrate(createPool()))).flat()
    t.ok(migrated.length > 0)
    t.equal(new Set(migrated).size, migrated.length, 'processes that start at once run each migration once')

    const pool = createPool()
    const { webhooks, deliveries } = postgresStorage(pool)
    const recruiting = createRecruiting({ storage: { webhooks, deliveries }, delivery: false })
    t.teardown(() => recruiting.close())

    await t.test('webhooks are created at once, up to the limit', async (t) => {
      const created = await atOnce(async () => webhooks.create('acme', { ...webhook, tenantSlug: 'acme', id: await webhooks.nextId('acme') }, count - 3))
      t.equal(created.filter((each) => each !== null).length, count - 3)
    })

    await t.test('emits with one idempotency key record one event', async (t) => {
      const emitted = await atOnce(() => recruiting.emit({ ...event, idempotencyKey: 'a' }))
      t.equal(new Set(emitted.map(({ id }) => id)).size, 1)
    })

    await t.test('claims at once share the limit of a webhook', async (t) => {
      await atOnce(() => recruiting.emit(event))
      const claimed = await atOnce(() => deliveries.claimDue({ limit: 64, perEndpoint: 2, leaseMs: 60_000 }))
      t.equal(claimed.flat().length, 2 * (count - 3))
    })

    await t.test('of several rotations of a key one succeeds', async (t) => {
      const keys = apiKeys(pool)
      const { id } = await keys.issue({ tenantSlug: 'acme', scopes: [] })
      const rotated = await atOnce(() => keys.rotate({ tenantSlug: 'acme' }, id, { overlapSeconds: 0 }).catch((error: unknown) => error))
      t.equal(rotated.filter((result) => !isRecruitingApiError(result)).length, 1)
    })

    await t.test('an emit that its transaction cannot serialize rejects with the error of the driver', async (t) => {
      const client = await pool.connect()
      t.teardown(() => client.release())
      await client.query('begin; select from pg_class limit 1')
      const { id } = await recruiting.emit({ ...event, idempotencyKey: 'b' })
      const error = await recruiting.emit({ ...event, idempotencyKey: 'b' }, { transaction: client }).catch((error: unknown) => error)
      t.match(error, { code: '40001', message: /could not serialize access/ })
      t.notOk(isRecruitingApiError(error))

      await client.query('rollback; begin')
      t.match(await recruiting.emit({ ...event, idempotencyKey: 'b' }, { transaction: client }), { id }, 'the host retries')
      await client.query('commit')
    })
  })
}

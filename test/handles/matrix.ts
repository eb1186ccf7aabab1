import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { fromPrisma } from '../../src/storages/postgres/index.js'
import { startPostgresServerHost } from '../fixtures/postgres/postgres.js'
import { storeWebhook } from '../fixtures/api/webhooks.js'
import type { PrismaClient } from './generated/client.js'
import type { Load, OpenStack, OpenTransaction } from './stack.js'
import { openDrizzlePg, openDrizzlePostgresJs } from './stacks/drizzle.js'
import { openKnex } from './stacks/knex.js'
import { openKysely } from './stacks/kysely.js'
import { openMikroOrm } from './stacks/mikro-orm.js'
import { openPostgresJs } from './stacks/postgres-js.js'
import { openPrisma } from './stacks/prisma.js'
import { openSequelize } from './stacks/sequelize.js'
import { openTypeOrmManager, openTypeOrmQueryRunner } from './stacks/type-orm.js'

const stacks: ReadonlyArray<[name: string, library: string, wrapped: string, open: OpenStack]> = [
  ['Prisma', 'Prisma', 'fromPrisma(tx)', openPrisma],
  ['Drizzle on pg', 'Drizzle', 'fromDrizzle(tx)', openDrizzlePg],
  ['Drizzle on postgres.js', 'Drizzle', 'fromDrizzle(tx)', openDrizzlePostgresJs],
  ['Kysely', 'Kysely', 'fromKysely(trx)', openKysely],
  ['Knex', 'Knex', 'fromKnex(trx)', openKnex],
  ['TypeORM manager', 'TypeORM', 'fromTypeOrm(manager)', openTypeOrmManager],
  ['TypeORM query runner', 'TypeORM', 'fromTypeOrm(manager)', openTypeOrmQueryRunner],
  ['Sequelize', 'Sequelize', 'fromSequelize(transaction)', openSequelize],
  ['MikroORM', 'MikroORM', 'fromMikroOrm(em)', openMikroOrm],
  ['postgres.js', 'postgres.js', 'fromPostgresJs(sql)', openPostgresJs]
]

const event = { tenantSlug: 'acme', type: 'application.created', data: { id: 1 } } as const
const subject = { tenantSlug: 'acme', subject: 'candidate:42' }
const hostile = `It's "quoted" \\ ? ?? $1 $$ :name {0} 🦉\u2028${'é'.repeat(100_000)}`

class Rollback extends Error {}

/** Runs every case with each library's transaction, in the version that `load` imports. */
export async function runMatrix (load: Load): Promise<void> {
  const { server, pool, storage, schema, clear } = await startPostgresServerHost(t)
  const recruiting = createRecruiting({ storage, delivery: false })
  t.teardown(() => recruiting.close())
  await pool.query('create table notes (id int)')

  const claim = () => storage.deliveries.claimDue({ limit: 10, perEndpoint: 10, leaseMs: 60_000 })
  const count = async (table: string): Promise<number> => (await pool.query(`select from ${table}`)).rows.length
  const countEvents = (): Promise<number> => count(`${schema}.events`)

  for (const [name, library, wrapped, openStack] of stacks) {
    await t.test(name, async (t) => {
      const { root, begin, end } = await openStack(load, server.url)
      t.teardown(end)

      t.beforeEach(async () => {
        await clear()
        await pool.query('truncate notes')
        await storeWebhook(storage, 'acme', { name: 'CRM', eventTypes: [event.type] })
      })

      async function rollBack (work: (open: OpenTransaction) => Promise<void>, run = begin): Promise<void> {
        const error = new Rollback('the host rolls back')
        await t.rejects(run(async (open) => {
          await work(open)
          throw error
        }), error)
      }

      t.test('an event is sent after the commit, not before', async (t) => {
        await begin(async ({ transaction, run }) => {
          await run('insert into notes values (1)')
          t.match(await recruiting.emit(event, { transaction }), { deliveries: 1 })
          t.strictSame(await claim(), [])
        })
        t.equal((await claim()).length, 1)
        t.equal(await count('notes'), 1)
      })

      t.test('a rolled back event is neither sent nor stored', async (t) => {
        await rollBack(async ({ transaction, run }) => {
          await run('insert into notes values (1)')
          await recruiting.emit(event, { transaction })
        })
        t.equal(await countEvents(), 0)
        t.equal(await count('notes'), 0)
      })

      t.test('a nested transaction commits or rolls back its own events', async (t) => {
        await begin(async ({ transaction, nest }) => {
          if (nest === undefined) return
          await rollBack(async (inner) => { await recruiting.emit(event, { transaction: inner.transaction }) }, nest)
          t.equal((await transaction.query(`select from ${schema}.events`)).rows.length, 0)
          await nest(async (inner) => { await recruiting.emit(event, { transaction: inner.transaction }) })
          t.equal((await transaction.query(`select from ${schema}.events`)).rows.length, 1)
        })
      })

      t.test('a finished transaction records nothing', async (t) => {
        const kept: OpenTransaction[] = []
        await begin(async (open) => { kept.push(open) })
        await rollBack(async (open) => { kept.push(open) })
        for (const { transaction } of kept) await t.rejects(recruiting.emit(event, { transaction }))
        t.equal(await countEvents(), 0)
      })

      t.test('values of every kind reach PostgreSQL, and rows are returned', async (t) => {
        const values = [hostile, 9007199254740991, ['a', null, 'b"\\{},?$1'], [1, 9007199254740991], JSON.stringify({ key: hostile }),
          '2026-02-03T04:05:06.789Z', '\\xdeadbeef', null, true, 7, [], 1.5]
        await begin(async ({ transaction }) => {
          t.same((await transaction.query(everyKind, values)).rows.map((row) => ({ ...row as object })), [{
            the_text: hostile,
            big: '9007199254740992',
            texts: '["a",null,"b\\"\\\\{},?$1"]',
            bigs: '[1,9007199254740991]',
            json: hostile,
            time: '2026-02-03 04:05:06.789000',
            bytes: 'deadbeef',
            nothing: null,
            yes: 'yes',
            bare: '7',
            empty: '[]',
            float: '1.5',
            literal: "it's ? $1::int",
            camelCase: 'same'
          }])
          t.equal((await transaction.query('select from generate_series(1, $1::int)', [3])).rows.length, 3)
          t.same((await transaction.query('insert into notes select unnest($1::int[]) returning id::text', [[4, 5]])).rows, [{ id: '4' }, { id: '5' }])
          t.same((await transaction.query('delete from notes')).rows, [])
        })
      })

      t.test('an unwrapped transaction is rejected with the function to use', async (t) => {
        const rejected = { code: 'invalid_event', message: `transaction: expected ${wrapped}, got the ${library} handle itself` }
        await t.rejects(recruiting.emit(event, { transaction: root }), rejected)
        await begin(async ({ handle }) => {
          await t.rejects(recruiting.emit(event, { transaction: handle }), rejected)
          await t.rejects(recruiting.erase(subject, { transaction: handle }), rejected)
        })
        t.equal(await countEvents(), 0)
      })
    })
  }

  await t.test('Prisma rolls an event back when its transaction exceeds the timeout', async (t) => {
    const { root, end } = await openPrisma(load, server.url)
    t.teardown(end)
    await clear()
    await t.rejects((root as PrismaClient).$transaction(async (tx) => {
      await recruiting.emit(event, { transaction: fromPrisma(tx) })
      for (;;) await tx.$queryRaw`select 1`
    }, { timeout: 1000 }), { code: 'P2028' })
    t.equal(await countEvents(), 0)
  })
}

const everyKind = `
  -- it's $1 ?
  select $1::text as the_text, ($2::bigint + 1)::text as big, array_to_json($3::text[])::text as texts,
    array_to_json($4::bigint[])::text as bigs, $5::jsonb ->> 'key' as json,
    to_char($6::timestamptz at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') as time, encode($7::bytea, 'hex') as bytes,
    $8::text as nothing, case when $9::boolean then 'yes' else 'no' end as yes, (3 + $10 - 3)::text as bare,
    array_to_json($11::text[])::text as empty, $12::double precision::text as float, 'it''s ? $1::int' as literal,
    case when $1::text = $1 and '{"a": 1}'::jsonb ? 'a' then 'same' else 'another' end as "camelCase"`

import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Random } from '../../../examples/demo/data/random.js'
import { createRecruiting } from '../../../src/index.js'
import { migrate, postgresStorage } from '../../../src/postgres/index.js'
import type { Teardown } from '../../fixtures/api/app.js'
import { createDamage } from './postgres-damage.js'
import { createProofTables } from './postgres-tables.js'
import { type Touched, type Write, lockItems, pickWrite } from './postgres-writes.js'
import { type ProofServer, type World, serveStorage } from './world.js'

interface PostgresWorldOptions {
  serve?: (port: number) => Promise<ProofServer>
}

/** The tables of a vendor in PostgreSQL, and writers that commit late or not at all. */
export async function createPostgresWorld (t: Teardown, pool: pg.Pool, options: PostgresWorldOptions = {}): Promise<World & Required<Pick<World, 'damage'>>> {
  await migrate(pool)
  await createProofTables(pool)
  const storage = postgresStorage(pool, { candidates: 'api_candidates', jobs: 'api_jobs', changes: 'manual' })
  const { serve = (port) => serveStorage(storage, port) } = options
  const recruiting = createRecruiting({ storage, delivery: false })
  t.teardown(() => recruiting.close())

  async function makeWrites (client: pg.PoolClient, writes: Write[], random: Random): Promise<void> {
    const isRecordedByCall = random.chance(0.2)
    const parts = writes.flatMap(({ sql, touched }) => {
      const part = [sql, ...isRecordedByCall ? [] : touched.map(recordJob)]
      if (!random.chance(0.15)) return part
      return ['savepoint one', ...part, random.chance(0.5) ? 'rollback to one' : 'release one']
    })
    const touched = writes.flatMap((write) => write.touched)
    await client.query(['begin', lockItems(touched), ...parts].join(';\n'))
    if (isRecordedByCall) for (const item of touched) await recruiting.changed(item, { transaction: client })
  }

  /** As workers do, while readers are between two pages. */
  async function compact (): Promise<void> {
    await storage.changes.prune({ retentionDays: 3650, limit: 1000 })
  }

  return {
    async write (random) {
      if (random.chance(0.02)) await compact()
      const writes = Array.from({ length: random.integer(1, 8) }, () => pickWrite(random))
      const client = await pool.connect()
      client.on('error', ignore)
      let isDone = false
      try {
        await makeWrites(client, writes, random)
        // Others commit in between.
        if (random.chance(0.3)) await sleep(random.chance(0.1) ? random.integer(100, 300) : random.integer(0, 30))
        await client.query(random.chance(0.12) ? 'rollback' : 'commit')
        isDone = true
      } finally {
        client.off('error', ignore)
        client.release(!isDone)
      }
      return writes.length
    },

    async read (tenantSlug, kind) {
      const { rows } = await pool.query<{ id: string, version: number }>(`select id, version from api_${kind}s where tenant_slug = $1`, [tenantSlug])
      return new Map(rows.map(({ id, version }) => [Number(id), version]))
    },

    async settle () {
      const text = 'select pg_snapshot_xmin(now) = pg_snapshot_xmax(now) as is_quiet from pg_current_snapshot() as now'
      while ((await pool.query<{ is_quiet: boolean }>(text)).rows[0]?.is_quiet !== true) await sleep(5)
    },

    damage: createDamage(pool, storage.webhooks),

    serve
  }
}

/** If the server is killed while a writer waits, its next query fails. */
function ignore (): void {}

/** For candidates, triggers do it. */
function recordJob ({ kind, tenantSlug, id }: Touched): string {
  return kind === 'candidate' ? 'select' : `select recruiting.changed('${tenantSlug}', 'job', '${id}')`
}

import { createHash } from 'node:crypto'
import t from 'tap'
import { postgresStorage } from '../../../src/storages/postgres/index.js'
import { testConformance } from '../../fixtures/postgres/postgres-conformance.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'
import { createTables, startPostgresHost } from '../../fixtures/postgres/postgres.js'

t.test('PostgreSQL passes the kit with any schema name and collation', async (t) => {
  const pool = (await startPostgres(t, "template0 locale_provider icu icu_locale 'en-US'")).createPool()
  await testConformance(t, pool, await createTables(pool, { schema: 'Größe $1 $$ "x"; drop schema \'a\'.b' }))
})

/** Returns a uuid that depends on the name. */
function tenantId (name: string): string {
  const digits = createHash('sha256').update(name).digest('hex')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5')
}

t.test('PostgreSQL passes the kit with uuids as ids and tenant ids', async (t) => {
  const { pool, clear } = await startPostgresHost(t)
  const common = 'tenant_id uuid, id uuid, created_at timestamptz, updated_at timestamptz, primary key (tenant_id, id)'
  await pool.query(`
    create table public.people (full_name text, headline text, source_id uuid, recruiter_id uuid, ${common});
    create table public.vacancies (name text, status text, ${common})`)

  async function save (table: string, tenant: string, rows: ReadonlyArray<{ id: unknown }>): Promise<void> {
    const ids = rows.map(({ id }) => id)
    await pool.query(`delete from public.${table} where tenant_id = $1 and id = any($2)`, [tenant, ids])
    const text = `insert into public.${table} select * from json_populate_recordset(null::public.${table}, $1)`
    await pool.query(text, [JSON.stringify(rows.map((row) => ({ ...row, tenant_id: tenant })))])
  }

  await testConformance(t, pool, {
    ids: { candidate: 'string', job: 'string', source: 'string', recruiter: 'string' },
    hasUuids: true,
    tenantId,
    storage: postgresStorage(pool, { candidates: 'public.people', jobs: 'public.vacancies', changes: 'manual' }),
    saveCandidates: (tenant, rows) => save('people', tenant, rows),
    saveJobs: (tenant, rows) => save('vacancies', tenant, rows),
    async clear () {
      await clear()
      await pool.query('delete from public.people; delete from public.vacancies')
    }
  })
})

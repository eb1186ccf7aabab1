import { createHash } from 'node:crypto'
import t from 'tap'
import { memoryStorage } from '../../src/memory/index.js'
import { postgresStorage } from '../../src/postgres/index.js'
import { storageCases } from '../../src/testing/index.js'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'

/** A uuid for each name. */
function tenantId (name: string): string {
  const digits = createHash('sha256').update(name).digest('hex')
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20, 32)].join('-')
}

t.test('memory keeps every promise of the ports with ids of tenants that are no slugs', async (t) => {
  for (const { group, name, run } of storageCases) {
    await t.test(`${group}: ${name}`, () => run(() => {
      const storage = memoryStorage()
      return {
        storage,
        tenantId,
        saveCandidates: (id, rows) => { for (const row of rows) storage.candidates.save(id, { ...row }) },
        saveJobs: (id, rows) => { for (const row of rows) storage.jobs.save(id, { ...row }) }
      }
    }))
  }
})

t.test('PostgreSQL keeps the promises about lists, sync and tenants with a column tenant_id of type uuid', async (t) => {
  const { pool, schema, clear, ...host } = await startPostgresHost(t)
  for (const table of ['candidates', 'jobs']) {
    await pool.query(`
      create table public.${table} (like ${schema}.${table} including all);
      alter table public.${table} add tenant_id uuid`)
    await pool.query(`create view public.own_${table} as select tenant_id, ${table === 'jobs' ? 'id, name, status' : 'id, full_name, headline, source_id, recruiter_id'}, created_at, updated_at from public.${table}`)
  }
  const storage = postgresStorage(pool, { candidates: 'public.own_candidates', jobs: 'public.own_jobs', changes: 'manual' })
  /** Rows arrive in the host's tables and move from there. One save at a time: two would move the same rows. */
  let saving = Promise.resolve()
  function save (table: string, write: () => Promise<void>, id: string): Promise<void> {
    saving = saving.then(async () => {
      await write()
      await pool.query(`
        delete from public.${table} where tenant_slug = '${id}' and id in (select id from ${schema}.${table} where tenant_slug = '${id}');
        insert into public.${table} select *, '${id}' from ${schema}.${table} where tenant_slug = '${id}';
        delete from ${schema}.${table} where tenant_slug = '${id}'`)
    })
    return saving
  }
  const make = async () => {
    await clear()
    await pool.query('delete from public.candidates; delete from public.jobs')
    return {
      storage,
      tenantId,
      saveCandidates: (id: string, rows: readonly object[]) => save('candidates', () => host.saveCandidates(id, rows), id),
      saveJobs: (id: string, rows: readonly object[]) => save('jobs', () => host.saveJobs(id, rows), id)
    }
  }
  for (const { group, name, run } of storageCases.filter(({ group }) => ['lists', 'sync', 'tenancy'].includes(group))) {
    await t.test(`${group}: ${name}`, () => run(make))
  }
})

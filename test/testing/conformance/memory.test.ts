import { createHash } from 'node:crypto'
import t, { type Test } from 'tap'
import { type MakeStorage, type SavedCandidate, type SavedJob, storageCases } from '../../../src/testing/index.js'
import { memoryStorage } from '../../../src/memory/index.js'
import type { IdKinds } from '../../../src/ports/index.js'
import { postgresStorage } from '../../../src/postgres/index.js'
import { makeMemoryHarness } from '../../fixtures/delivery/memory-harness.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'
import { createTables, startPostgresHost } from '../../fixtures/postgres/postgres.js'

for (const { group, name, run } of storageCases) {
  t.test(`${group}: ${name}`, () => run(makeMemoryHarness))
}

const text: IdKinds = { candidate: 'string', job: 'string', source: 'string', recruiter: 'string' }
const cases = storageCases.filter(({ group }) => ['lists', 'sync'].includes(group))

async function testCases (t: Test, make: MakeStorage): Promise<void> {
  for (const { name, run } of cases) await t.test(name, () => run(make))
}

/** Harness over an empty memory storage with ids of these kinds. */
function makeMemory (ids: Partial<IdKinds>, hasUuids: boolean): MakeStorage {
  return () => {
    const storage = memoryStorage<Partial<IdKinds>>({ ids })
    return {
      ids,
      hasUuids,
      storage,
      saveCandidates (tenantSlug, rows: ReadonlyArray<SavedCandidate<number | string, number | string, number | string>>) {
        for (const row of rows) storage.candidates.save(tenantSlug, { ...row })
      },
      saveJobs (tenantSlug, rows: ReadonlyArray<SavedJob<number | string>>) {
        for (const row of rows) storage.jobs.save(tenantSlug, { ...row })
      }
    }
  }
}

/** Harness over tables of PostgreSQL whose ids all have this type. */
async function makePostgres (t: Test, idType: string, hasUuids: boolean): Promise<MakeStorage> {
  const pool = (await startPostgres(t)).createPool()
  const { storage, saveCandidates, saveJobs, clear } = await createTables(pool, {}, idType)
  return async () => {
    await clear()
    return { ids: text, hasUuids, storage, saveCandidates, saveJobs }
  }
}

t.test('memory keeps the promises about lists and sync with text ids', (t) => testCases(t, makeMemory(text, false)))

t.test('memory keeps them where only some ids are text', async (t) => {
  for (const name of ['candidate', 'job', 'source', 'recruiter']) {
    await t.test(name, (t) => testCases(t, makeMemory({ [name]: 'string' }, true)))
  }
})

for (const [idType, hasUuids] of [['uuid', true], ['text collate "en-x-icu"', false], ['varchar(64) collate "C"', false]] as const) {
  t.test(`PostgreSQL keeps the promises about lists and sync with ids of type ${idType}`, async (t) => testCases(t, await makePostgres(t, idType, hasUuids)))
}

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

// Runs the conformance kit over the SQLite storage, and the cases of lists again with text ids. Exits with 1 if a case failed.
//
// npx tsx examples/sqlite/conformance.ts

import type { Id, IdKinds } from 'fastify-recruiting-api'
import { type StorageHarness, formatReport, runCases, storageCases } from 'fastify-recruiting-api/testing'
import { openDatabase } from './open-database.js'
import { createTables } from './schema.js'
import { sqliteStorage } from './storage.js'

async function makeHarness (ids: Partial<IdKinds> = {}): Promise<StorageHarness<Id, Id, Id, Id>> {
  const db = openDatabase()
  await createTables(db)
  let now = Date.now()
  return {
    ids,
    storage: sqliteStorage(db, { now: () => now }),
    async saveCandidates (tenantSlug, rows) {
      for (const row of rows) {
        await db.replaceInto('candidates').values({ tenant_slug: tenantSlug, name_key: row.full_name.toLowerCase(), ...row }).execute()
      }
    },
    async saveJobs (tenantSlug, rows) {
      for (const row of rows) {
        await db.replaceInto('jobs').values({ tenant_slug: tenantSlug, name_key: row.name.toLowerCase(), ...row }).execute()
      }
    },
    advance: (ms) => { now += ms },
    close: () => db.destroy()
  }
}

const texts = { candidate: 'string', job: 'string', source: 'string', recruiter: 'string' } as const
const lists = storageCases.filter(({ group }) => group === 'lists')
const results = [await runCases(storageCases, makeHarness), await runCases(lists, () => makeHarness(texts))]
for (const some of results) console.log(formatReport(some))
process.exitCode = results.flat().every(({ error }) => error === null) ? 0 : 1

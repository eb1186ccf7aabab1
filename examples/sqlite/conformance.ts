// Runs the conformance kit over the SQLite storage and prints its report. Exits with 1 if a case failed.
//
// npx tsx examples/sqlite/conformance.ts

import { type StorageHarness, formatReport, runCases, storageCases } from 'fastify-recruiting-api/testing'
import { openDatabase } from './open-database.js'
import { createTables } from './schema.js'
import { sqliteStorage } from './storage.js'

async function makeHarness (): Promise<StorageHarness> {
  const db = openDatabase()
  await createTables(db)
  let now = Date.now()
  return {
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

const results = await runCases(storageCases, makeHarness)
console.log(formatReport(results))
process.exitCode = results.every(({ error }) => error === null) ? 0 : 1

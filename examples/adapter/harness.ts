import { memoryStorage } from 'fastify-recruiting-api/memory'
import type { StorageHarness } from 'fastify-recruiting-api/testing'
import { createCandidates } from './candidates.js'
import { type Database, openDatabase } from './database.js'
import { createJobs } from './jobs.js'
import { foldCase } from './query.js'

export function makeHarness (): StorageHarness {
  const database = openDatabase()
  return {
    // The memory storage provides the other ports.
    storage: { ...memoryStorage(), candidates: createCandidates(database), jobs: createJobs(database) },

    saveCandidates (tenantSlug, rows) {
      for (const row of rows) {
        save(database, 'people', [
          tenantSlug, row.id, row.full_name, foldCase(row.full_name), row.headline, row.source_id, row.recruiter_id,
          Date.parse(row.created_at), Date.parse(row.updated_at)
        ])
      }
    },

    saveJobs (tenantSlug, rows) {
      for (const row of rows) {
        save(database, 'vacancies', [
          tenantSlug,
          row.id,
          row.name,
          foldCase(row.name),
          row.status,
          Date.parse(row.created_at),
          Date.parse(row.updated_at)
        ])
      }
    },

    close: () => database.close()
  }
}

function save (database: Database, table: string, values: Array<string | number | null>): void {
  database.run(`replace into ${table} values (${values.map(() => '?').join(', ')})`, values)
}

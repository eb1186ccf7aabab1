import type { RecruitingStorage } from 'fastify-recruiting-api'
import { memoryStorage } from 'fastify-recruiting-api/memory'
import { migrate, postgresStorage } from 'fastify-recruiting-api/postgres'
import pg from 'pg'

/** An empty storage, and what closes it. */
export interface OpenStorage {
  storage: RecruitingStorage
  close (): Promise<void>
}

let schemas = 0

/** In memory, or in a schema of its own of a database. */
export async function openStorage (databaseUrl: string | null): Promise<OpenStorage> {
  if (databaseUrl === null) return { storage: memoryStorage(), close: async () => {} }
  const schema = `bench_${process.pid}_${++schemas}`
  const pool = new pg.Pool({ connectionString: databaseUrl, connectionTimeoutMillis: 5000 })
  await migrate(pool, { schema })
  return {
    storage: postgresStorage(pool, { schema }),
    async close () {
      await pool.query(`drop schema ${schema} cascade`)
      await pool.end()
    }
  }
}

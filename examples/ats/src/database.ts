import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import pg from 'pg'
import { migrate, watch } from 'fastify-recruiting-api/postgres'
import type { Config } from './config.js'

/**
 * Connects to PostgreSQL, and starts the local one if needed. Updates the tables, except in production: there,
 * `npm run migrate` updates them before a new version starts.
 */
export async function openDatabase ({
  databaseUrl,
  localPort,
  isProduction
}: Pick<Config, 'databaseUrl' | 'localPort' | 'isProduction'>): Promise<pg.Pool> {
  if (
    databaseUrl.hostname === '127.0.0.1' &&
    databaseUrl.port === localPort &&
    !(await isListening(Number(localPort)))
  ) {
    const { startPostgres } = await import('./local-postgres.js')
    await startPostgres(databaseUrl)
  }
  const pool = new pg.Pool({ connectionString: databaseUrl.href, connectionTimeoutMillis: 5000 })
  if (!isProduction) await updateTables(pool)
  return pool
}

/** Creates or updates the tables while servers run. */
export async function updateTables (pool: pg.Pool): Promise<void> {
  await migrate(pool)
  await pool.query(await readFile(new URL('../schema.sql', import.meta.url), 'utf8'))
  // Triggers record every change for sync, including changes made by hand.
  await watch(pool, 'candidates', { kind: 'candidate', id: 'id', tenant: 'company_id' })
  await watch(pool, 'jobs', { kind: 'job', id: 'id', tenant: 'company_id' })
  await watch(pool, 'applications', { kind: 'application', id: 'id', tenant: 'company_id' })
}

function isListening (port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

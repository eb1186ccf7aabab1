import pg from 'pg'
import { startPostgresServer } from '../../test/fixtures/postgres/postgres-server.js'

/** A PostgreSQL server whose commits wait for the disk, as with the default settings. */
export interface Database {
  url: string
  pool: pg.Pool
  /** Transactions committed so far, by all clients. */
  commits (): Promise<number>
  close (): Promise<void>
}

/** Starts PostgreSQL from npm, or from the folder of binaries in `BENCH_POSTGRES`. */
export async function startDatabase (): Promise<Database> {
  const { BENCH_POSTGRES: binaries } = process.env
  const closers: Array<() => Promise<unknown>> = []
  const { url } = await startPostgresServer(
    {
      teardown: (close) => {
        closers.unshift(close)
      }
    },
    { settings: ['max_connections=300'], ...(binaries === undefined ? {} : { binaries }) }
  )
  const pool = new pg.Pool({ connectionString: url, max: 25 })
  return {
    url,
    pool,
    async commits () {
      await pool.query('select pg_stat_force_next_flush(), pg_sleep(1.1)')
      const { rows } = await pool.query(
        'select xact_commit::int as commits from pg_stat_database where datname = current_database()'
      )
      return rows[0].commits
    },
    async close () {
      await pool.end()
      for (const close of closers) await close()
    }
  }
}

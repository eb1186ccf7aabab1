import { PGlite } from '@electric-sql/pglite'
import type { PgClient, PgPool } from 'fastify-recruiting-api/postgres'

/**
 * Opens PostgreSQL inside this process, in memory or in a folder, as a pool with one connection. For demos and tests:
 * no other process can use the same database.
 */
export function openPglite (folder?: string): PgPool & { end (): Promise<void> } {
  const db = new PGlite(folder)
  let last: Promise<unknown> = Promise.resolve()

  function connect (): Promise<PgClient> {
    return new Promise((resolve) => {
      const lend = (giveBack: () => void): void => resolve({
        query,
        release (destroy) {
          // A real pool would close the connection, which rolls back.
          if (destroy === true) db.exec('rollback').then(giveBack, giveBack)
          else giveBack()
        }
      })
      last = last.then(() => new Promise<void>((resolve) => lend(resolve)))
    })
  }

  async function query (text: string, values?: unknown[]): Promise<{ rows: unknown[] }> {
    if (values !== undefined) return db.query(text, values)
    // Migrations contain several statements.
    return { rows: (await db.exec(text)).flatMap(({ rows }) => rows) }
  }

  return {
    connect,
    async query (text, values) {
      const client = await connect()
      try {
        return await client.query(text, values)
      } finally {
        client.release()
      }
    },
    end: () => db.close()
  }
}

import { Kysely, SqliteDialect } from 'kysely'
import sqlite from 'node-sqlite3-wasm'
import type { Schema } from './schema.js'

/** Opens a file, or a database in memory. SQLite runs as WebAssembly, so installing it compiles nothing. */
export function openDatabase<Tables = Schema> (path = ':memory:'): Kysely<Tables> {
  const database = new sqlite.Database(path)
  return new Kysely<Tables>({
    // Adapts the driver to the interface of better-sqlite3, which Kysely expects.
    dialect: new SqliteDialect({
      database: {
        close: () => database.close(),
        prepare: (text) => ({
          reader: /^\s*(select|with)\b|\breturning\b/i.test(text),
          all: (values) => database.all(text, toBindable(values)),
          run (values) {
            const { changes, lastInsertRowid } = database.run(text, toBindable(values))
            return { changes, lastInsertRowid }
          },
          iterate: (values) => database.all(text, toBindable(values)).values()
        })
      }
    })
  })
}

function toBindable (values: readonly unknown[]): Array<string | number | null> {
  return values.map((value) => typeof value === 'string' || typeof value === 'number' ? value : value === null ? null : Number(value))
}

import { rmSync } from 'node:fs'
import sqlite from 'node-sqlite3-wasm'
import type { Copy, SyncItem } from './sync.js'

export type Database = InstanceType<typeof sqlite.Database>

/** Opens the copy's file. Only one process may use it. */
export function openDatabase (file: string): Database {
  // This build of SQLite locks a file with a folder next to it, which remains after a kill.
  rmSync(`${file}.lock`, { recursive: true, force: true })
  const database = new sqlite.Database(file)
  // Without a system lock, this build recovers an interrupted transaction only from a write-ahead log.
  database.exec(`
    pragma locking_mode = exclusive;
    pragma journal_mode = wal;
    create table if not exists items (resource text, id, generation integer, item text, primary key (resource, id));
    create table if not exists syncs (resource text primary key, generation integer, token text);
  `)
  return database
}

/** Opens the copy of one resource, such as `candidates`. */
export function openCopy (database: Database, resource: string): Copy {
  database.run('insert or ignore into syncs values (?, 1, null)', [resource])

  function store ({ id, deleted, ...item }: SyncItem): void {
    if (deleted) database.run('delete from items where resource = ? and id = ?', [resource, id])
    else {
      database.run(`
        insert or replace into items select resource, ?, generation, ? from syncs where resource = ?`,
      [id, JSON.stringify(Object.values(item)[0]), resource])
    }
  }

  return {
    get token () {
      return database.get('select token from syncs where resource = ?', [resource])?.token as string | null
    },

    save ({ data, meta }) {
      inTransaction(database, () => {
        for (const item of data) store(item)
        database.run('update syncs set token = ? where resource = ?', [meta.next_token, resource])
        if (meta.has_more) return
        // After a 410: rows missing from the new sync were deleted.
        database.run(`
          delete from items where resource = ?1 and generation < (select generation from syncs where resource = ?1)`,
        [resource])
      })
    },

    beginAgain () {
      database.run('update syncs set generation = generation + 1, token = null where resource = ?', [resource])
    }
  }
}

/** Returns the number of items of a resource. */
export function countItems (database: Database, resource: string): number {
  return Number(database.get('select count(*) as total from items where resource = ?', [resource])?.total)
}

function inTransaction (database: Database, work: () => void): void {
  database.exec('begin')
  try {
    work()
    database.exec('commit')
  } catch (error) {
    database.exec('rollback')
    throw error
  }
}

import { readFile } from 'node:fs/promises'
import { listMigrations } from '../../postgres/migrate.js'
import { findMissingMigrations } from '../database.js'
import { type Check, type Patient, fault, ok } from './finding.js'

const folder = new URL('../../postgres/migrations/', import.meta.url)

export const migrations: Check = {
  name: 'migrations',
  needsTables: false,
  async run ({ pool, schema }) {
    const missing = await findMissingMigrations(pool, schema)
    if (missing.length === 0) return [ok('all of them have run')]
    return [fault(`the schema ${schema} lacks ${missing.join(', ')}`, `run fastify-recruiting-api migrate --schema ${schema}`)]
  }
}

/** The indexes of the package's own tables. */
export const ownIndexes: Check = {
  name: 'own indexes',
  needsTables: true,
  async run ({ session, schema }) {
    const names = await listIndexes()
    const rows = await session.query<{ name: string }>('list indexes', `
      select c.relname::text as name from pg_index i
      join pg_class c on c.oid = i.indexrelid
      join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = $1 and i.indisvalid`, [schema])
    const found = new Set(rows.map(({ name }) => name))
    const missing = [...names].filter(([name]) => !found.has(name))
    if (missing.length === 0) return [ok(`all ${names.size} are there`)]
    return missing.map(([name, statement]) => fault(`the index ${name} is missing or invalid`, `run in the schema ${schema}: drop index if exists ${name}; ${statement}`))
  }
}

/** The statements of the migrations that create indexes, by the names of these. */
async function listIndexes (): Promise<Map<string, string>> {
  const files = await Promise.all((await listMigrations()).map((name) => readFile(new URL(name, folder), 'utf8')))
  const statements = files.flatMap((text) => [...text.matchAll(/^create (?:unique )?index (\w+)[^;]*;/gm)])
  return new Map(statements.map(([statement, name = '']) => [name, statement.replaceAll(/\s+/g, ' ')]))
}

/** Whether the tables are there. */
export async function hasTables ({ pool, schema }: Patient): Promise<boolean> {
  return (await findMissingMigrations(pool, schema)).length === 0
}

import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { RecruitingApiError } from '../../../core/shared/errors.js'
import { packageFolder } from '../../../core/shared/files.js'
import { type Rights, rights } from '../grants.js'
import type { RunQuery } from '../session.js'
import { quoteName } from '../sql.js'

export interface Version {
  /** By file name, in order. */
  migrations: ReadonlyMap<string, string>
  /** The statements that create functions, by function name. */
  functions: ReadonlyMap<string, string>
  rights: Rights
}

let own: Promise<Version> | null = null

/** Reads the SQL files of this version, once per process. Throws `storage_not_ready`. */
export function readVersion (): Promise<Version> {
  own ??= readFolder(new URL('src/storages/postgres/', packageFolder()))
  return own
}

export async function readFolder (folder: URL): Promise<Version> {
  const [migrations, functions] = await Promise.all([
    readFiles(new URL('migrations/', folder)), readFiles(new URL('sql/', folder))
  ])
  return { migrations, functions: new Map([...functions.values()].flatMap(splitFunctions)), rights }
}

function splitFunctions (text: string): Array<[name: string, text: string]> {
  return [...text.matchAll(/^create or replace function (\w+)[^]*?^\$\$;$/gm)]
    .map(([statement, name = '']) => [name, statement])
}

async function readFiles (folder: URL): Promise<Map<string, string>> {
  try {
    const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
    return new Map(
      await Promise.all(
        names.map(async (name): Promise<[string, string]> => [name, await readFile(new URL(name, folder), 'utf8')])
      )
    )
  } catch (error) {
    const problem = `there are no SQL files in ${fileURLToPath(folder)}: install fastify-recruiting-api next to your ` +
      'bundle, with all of its files'
    throw new RecruitingApiError('storage_not_ready', problem, 'migrations', { cause: error })
  }
}

interface Missing {
  isNew: boolean
  /** Migrations that have not run, in their order. */
  migrations: string[]
  functions: string[]
}

/** Compares a schema with a version. `schema` is not quoted. */
export async function findMissing (
  query: RunQuery, schema: string, { migrations, functions }: Version
): Promise<Missing> {
  const done = await findMigrations(query, schema)
  const rows = await query<{ name: string }>(
    'select proname::text as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = $1',
    [schema]
  )
  const found = new Set(rows.map(({ name }) => name))
  return {
    isNew: done.size === 0,
    migrations: [...migrations.keys()].filter((name) => !done.has(name)),
    functions: [...functions.keys()].filter((name) => !found.has(name))
  }
}

/**
 * Lists this package's sequences that have a cache, quoted: their numbers are not in the order in which sessions take
 * them, so events and changes would be reordered, and new deliveries would count as stopped. `schema` is not quoted.
 */
export async function findCaches (query: RunQuery, schema: string): Promise<string[]> {
  const rows = await query<{ name: string }>(`
    select format('%I.%I', n.nspname, c.relname) as name
    from pg_namespace n
    join pg_class c on c.relnamespace = n.oid
    join pg_sequence s on s.seqrelid = c.oid and s.seqcache <> 1
    where n.nspname = $1 and (c.relname = any ($2) or exists (
      select from pg_depend d join pg_class t on t.oid = d.refobjid
      where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'i'
        and t.relnamespace = n.oid and t.relname = any ($3)
    ))
    order by 1`, [schema, Object.keys(rights.sequences), Object.keys(rights.tables)])
  return rows.map(({ name }) => name)
}

export function listNames ({ migrations, functions }: Pick<Missing, 'migrations' | 'functions'>): string[] {
  return [...migrations, ...functions]
}

/** Returns the names of the migrations that ran; none if the schema does not exist. Throws `storage_not_ready`. */
async function findMigrations (query: RunQuery, schema: string): Promise<Set<string>> {
  const table = `${quoteName(schema)}.migrations`
  const [found] = await query<{ encoding: string, is_there: boolean, hidden: string | null }>(`
    select current_setting('server_encoding') as encoding, to_regclass($1) is not null as is_there, (
      select string_agg(c.relname, ', ' order by c.relname)
      from pg_class own join pg_class c on c.relnamespace = own.relnamespace
      where own.oid = to_regclass($1) and c.relkind = 'r' and row_security_active(c.oid)
        and not exists (select from pg_policy p where p.polrelid = c.oid)
    ) as hidden`, [table])
  if (found !== undefined && found.encoding !== 'UTF8') {
    const problem = `the database has the encoding ${found.encoding}, which cannot store every text of the API: create a database with the encoding UTF8`
    throw new RecruitingApiError('storage_not_ready', problem, 'pool')
  }
  if (found?.is_there !== true) return new Set()
  if (found.hidden !== null) {
    const problem = `schema: row-level security without a policy hides all rows of ${found.hidden} in ${quoteName(schema)} from the database user: disable it there, or create policies for this user`
    throw new RecruitingApiError('storage_not_ready', problem, 'schema')
  }
  const rows = await query<{ name: string }>(`select name from ${table}`)
  return new Set(rows.map(({ name }) => name))
}

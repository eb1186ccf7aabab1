import { createHash } from 'node:crypto'
import { RecruitingApiError } from '../../errors.js'
import type { ChangeKind } from '../../ports/index.js'
import { expect } from '../../shared/expect.js'
import { readField } from '../../shared/read-field.js'
import { type Reader, type Readers, choice, readOptions } from '../../shared/read-options.js'
import { isStorableText } from '../../shared/text.js'
import { assertPool, readSchema } from '../options.js'
import type { PgPool, PgQueryable } from '../pool.js'
import { ask } from '../session.js'
import { quoteLiteral, quoteName } from '../sql.js'
import { formatRecord, formatText, formatTriggerBody, listTriggers } from './watch-sql.js'

/** Options of `watch`. */
export interface WatchOptions {
  /**
   * The schema created by `migrate`.
   * @default 'recruiting'
   */
  schema?: string
  /** The resource that rows of the table concern. */
  kind: ChangeKind
  /**
   * The column with the id of that candidate or job, or an SQL expression over `row`. Unqualified names in it belong to the
   * schema of the table.
   */
  id: string
  /**
   * The column with the tenant slug, or an SQL expression over `row`.
   * @example '(select slug from accounts where accounts.id = row.account_id)'
   */
  tenant: string
}

/** A table on which triggers are needed: the watched one, or one of its partitions. */
interface Table {
  /** Quoted, with its schema. */
  name: string
  kind: string
  /** How many of the triggers it has. */
  triggers: number
}

interface Root {
  oid: string
  name: string
  /** Not quoted. */
  schema: string
  kind: string
  /** A JSON array of their names. */
  columns: string
}

const readExpression: Reader<string> = (value, path) => {
  expect(typeof value === 'string' && value.trim() !== '' && isStorableText(value), path, 'the name of a column, or an SQL expression over row', value)
  return value
}

const readers: Readers<Required<WatchOptions>> = {
  schema: readSchema,
  kind: choice(['candidate', 'job']),
  id: readExpression,
  tenant: readExpression
}

/**
 * Puts triggers on a table that record which candidates or jobs its rows concern, so that `sync` sees every write: of the
 * application, of scripts and by hand. Rows whose id or tenant is null are ignored. Truncating the table records all its rows.
 *
 * May be called at every start, after `migrate`: it changes nothing if the triggers are as they should be, and processes that
 * start together wait for each other. Call it again after you add partitions. The caller must own the table; the triggers
 * have the rights of the caller, so that other users of the table need none on ours. A table has one set of triggers for each
 * kind: other options replace it.
 *
 * Throws `invalid_option` for a relation that is not a table, and for a column or expression that is not valid;
 * `storage_not_ready` before `migrate`; and errors of the database, for example after waiting 5 s for a lock.
 */
export async function watch (pool: PgPool, relation: string, options: WatchOptions): Promise<void> {
  assertPool(pool)
  expect(typeof relation === 'string' && relation !== '' && isStorableText(relation), 'relation', 'the name of a table, such as public.people', relation)
  const settings = readOptions(options, readers)
  const client = await pool.connect()
  let isDone = false
  try {
    await client.query('begin')
    await client.query("set local lock_timeout to '5s'")
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`fastify-recruiting-api watch ${settings.schema}`])
    await watchIn(client, relation, settings)
    await client.query('commit')
    isDone = true
  } finally {
    // Closing the connection rolls back.
    client.release(!isDone)
  }
}

async function watchIn (client: PgQueryable, relation: string, { schema, kind, id, tenant }: Required<WatchOptions>): Promise<void> {
  const quotedSchema = quoteName(schema)
  const root = await findTable(client, relation)
  const watched = { kind, id: toExpression(root, 'id', id), tenant: toExpression(root, 'tenant', tenant) }
  await assertTables(client, schema)
  // As in the triggers. A policy that would hide rows from an expression is an error.
  await client.query(`set local search_path to ${quoteName(root.schema)}, pg_temp; set local row_security to off`)
  const rows = `(select * from ${root.name} where false)`
  for (const option of ['id', 'tenant'] as const) {
    await tryOut(client, option, `select * from ${rows} as row cross join lateral (select ${formatText(watched[option])}) as value`)
  }
  await client.query(formatRecord(watched, quotedSchema, [rows]))

  const body = formatTriggerBody(watched, quotedSchema)
  const digest = createHash('sha256').update(root.schema).update('\0').update(body).digest('hex').slice(0, 16)
  const functionName = `${quotedSchema}.watch_${kind}_${digest}`
  const tables = await listTables(client, root, functionName)
  const triggers = listTriggers(kind, schema)
  const missing = tables.filter((table) => table.triggers < triggers.length)
  if (missing.length === 0) return

  await client.query(`
    create or replace function ${functionName}() returns trigger language plpgsql security definer
    set search_path to ${quoteName(root.schema)}, pg_temp set row_security to off
    as ${quoteLiteral(body)}`)
  for (const table of missing) {
    for (const { name, event, transition } of triggers) {
      await client.query(`create or replace trigger ${name} ${event} on ${table.name} ${transition} for each statement execute function ${functionName}()`)
    }
  }
  await dropUnusedFunctions(client, schema)
}

async function findTable (client: PgQueryable, relation: string): Promise<Root> {
  const [root] = await tryOut<Root>(client, 'relation', `
    select c.oid::text, format('%I.%I', n.nspname, c.relname) as name, n.nspname as schema, c.relkind::text as kind,
      (select json_agg(a.attname) from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped)::text as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.oid = to_regclass($1)`, [relation])
  if (root === undefined) refuse('relation', `there is no table ${relation} that the database user may see`)
  if (!['r', 'p'].includes(root.kind)) refuse('relation', `${root.name} is not a table: watch the tables that it reads`)
  return root
}

/** A name that is no column is more likely a typing error than an expression. */
function toExpression ({ name, columns }: Root, option: string, given: string): string {
  if ((JSON.parse(columns) as string[]).includes(given)) return `row.${quoteName(given)}`
  if (/^[\p{L}\p{N}_$]+$/u.test(given)) refuse(option, `${name} has no column ${given}`)
  return given
}

async function assertTables (client: PgQueryable, schema: string): Promise<void> {
  const [found] = await ask<{ is_there: boolean }>(client, 'select to_regclass($1) is not null as is_there', [`${quoteName(schema)}.recent_changes`])
  if (found?.is_there === true) return
  throw new RecruitingApiError('storage_not_ready', `the schema ${schema} has no table recent_changes: call migrate(pool, { schema: ${JSON.stringify(schema)} }) first`, 'schema')
}

/** Returns a table and its partitions, on which statements may act directly. */
async function listTables (client: PgQueryable, root: Root, functionName: string): Promise<Table[]> {
  const tables = await ask<Table>(client, `
    with recursive tree as (
      select $1::oid as oid
      union
      select i.inhrelid from tree join pg_inherits i on i.inhparent = tree.oid
    )
    select format('%I.%I', n.nspname, c.relname) as name, c.relkind::text as kind,
      (select count(*)::integer from pg_trigger t where t.tgrelid = c.oid and t.tgfoid = to_regprocedure($2)) as triggers
    from tree join pg_class c on c.oid = tree.oid join pg_namespace n on n.oid = c.relnamespace
    order by c.oid`, [root.oid, `${functionName}()`])
  const foreign = tables.find(({ kind }) => kind === 'f')
  if (foreign !== undefined) refuse('relation', `${foreign.name}, a partition of ${root.name}, is a foreign table: call changed in its place`)
  return tables
}

/** Functions whose triggers were replaced or dropped. */
async function dropUnusedFunctions (client: PgQueryable, schema: string): Promise<void> {
  const unused = await ask<{ name: string }>(client, `
    select format('%I.%I', n.nspname, p.proname) as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname = $1 and p.proname ~ '^watch_(candidate|job)_[0-9a-f]{16}$' and pg_has_role(p.proowner, 'usage')
      and not exists (select from pg_trigger t where t.tgfoid = p.oid)`, [schema])
  for (const { name } of unused) await client.query(`drop function ${name}()`)
}

/** Runs a statement; errors in its text, and missing rights, are those of an option. */
async function tryOut<Row> (client: PgQueryable, option: string, text: string, values?: unknown[]): Promise<Row[]> {
  try {
    return await ask<Row>(client, text, values)
  } catch (error) {
    if (!/^(0A|22|42)/.test(String(readField(error, 'code')))) throw error
    return refuse(option, String(readField(error, 'message')), error)
  }
}

function refuse (option: string, problem: string, cause?: unknown): never {
  throw new RecruitingApiError('invalid_option', `${option}: ${problem}`, option, cause === undefined ? {} : { cause })
}

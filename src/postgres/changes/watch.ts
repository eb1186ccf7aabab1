import { createHash } from 'node:crypto'
import { RecruitingApiError } from '../../errors.js'
import type { ChangeKind } from '../../ports/index.js'
import { expect } from '../../shared/expect.js'
import { type Reader, type Readers, choice, readOptions } from '../../shared/read-options.js'
import { isStorableText } from '../../shared/text.js'
import { inTransaction, type PgPool, type PgQueryable } from '../pool.js'
import { assertPool, readSchema } from '../options.js'
import { ask } from '../session.js'
import { quoteLiteral, quoteName } from '../sql.js'
import { isAsLeft, registerTable } from './watched-tables.js'
import { type Root, readExpressions, refuse, trySample, tryOut } from './watch-expressions.js'
import { formatRecord, formatTriggerBody, listTriggers } from './watch-sql.js'

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
   * schema of the table. An array, or a query in parentheses, may give several ids.
   * @example '(select c.id from candidates c where c.owner_id = row.id)'
   */
  id: string
  /**
   * The column with the tenant's id, or an SQL expression over `row`. Without the option `tenantId`, the id is the slug.
   * @example '(select slug from accounts where accounts.id = row.account_id)'
   */
  tenant: string
}

/** A table on which triggers are needed: the watched one, or one of its partitions. */
interface Table {
  /** Quoted, with its schema. */
  name: string
  kind: string
  /** A JSON array of the functions in our schema that its triggers call, without disabled ones. */
  functions: string
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
 * Puts triggers on a table that record which candidates or jobs its rows concern, so that `sync` sees every write: by the
 * application, by scripts and by hand. Rows whose id or tenant is null are ignored. Truncating the table records all its rows.
 *
 * May be called at every start, after `migrate`: it changes nothing if the triggers are as it left them, and processes that
 * start together wait for each other. If a trigger was dropped or disabled since, nobody knows what changed: it creates the
 * triggers again and ends the tokens of the kind, so that clients begin again. After you add partitions, call it again; it
 * records their rows. The caller must own the table; the triggers have the rights of the caller, so that other users of the
 * table need none on ours. A table has one set of triggers for each kind: other options replace it.
 *
 * Throws `invalid_option` for a relation that is not a table, and for a column or expression that is not valid, has a wrong type
 * or gives wrong values for the rows of the table, of which it reads up to 10,000 before it creates triggers;
 * `storage_not_ready` before `migrate`; and errors of the database, for example after waiting 5 s for a lock.
 */
export async function watch (pool: PgPool, relation: string, options: WatchOptions): Promise<void> {
  assertPool(pool)
  expect(typeof relation === 'string' && relation !== '' && isStorableText(relation), 'relation', 'the name of a table, such as public.people', relation)
  const settings = readOptions(options, readers)
  await inTransaction(pool, async (client) => {
    await client.query("set local statement_timeout to 0; set local lock_timeout to '5s'")
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`fastify-recruiting-api watch ${settings.schema}`])
    await watchIn(client, relation, settings)
  })
}

async function watchIn (client: PgQueryable, relation: string, { schema, ...options }: Required<WatchOptions>): Promise<void> {
  const { kind } = options
  const quotedSchema = quoteName(schema)
  const root = await findTable(client, relation)
  await assertTables(client, schema)
  const tables = await listTables(client, root, schema)
  // As in the triggers. A policy that would hide rows from an expression is an error.
  await client.query(`set local search_path to ${quoteName(root.schema)}, pg_temp; set local row_security to off`)
  const watched = { kind, ...await readExpressions(client, root, options) }
  await client.query(formatRecord(watched, quotedSchema, [`(select * from ${root.name} where false)`]))

  const body = formatTriggerBody(watched, quotedSchema)
  const digest = createHash('sha256').update(root.schema).update('\0').update(body).digest('hex').slice(0, 16)
  const functionName = `watch_${kind}_${digest}`
  const triggers = listTriggers(kind, schema)
  const missing = tables.filter(({ functions }) => (JSON.parse(functions) as string[]).filter((name) => name === functionName).length < triggers.length)
  if (missing.length === 0 && await isAsLeft(client, quotedSchema, kind, root)) return

  await trySample(client, root, watched)
  await client.query(`
    create or replace function ${quotedSchema}.${functionName}() returns trigger language plpgsql security definer
    set search_path to ${quoteName(root.schema)}, pg_temp set row_security to off
    as ${quoteLiteral(body)}`)
  for (const table of missing) {
    for (const { name, event, transition } of triggers) {
      await client.query(`create or replace trigger ${name} ${event} on ${table.name} ${transition} for each statement execute function ${quotedSchema}.${functionName}()`)
    }
  }
  await dropUnusedFunctions(client, schema)
  await registerTable(client, quotedSchema, root, { watched, options })
}

async function findTable (client: PgQueryable, relation: string): Promise<Root> {
  const [root] = await tryOut<Root>(client, 'relation', `
    select c.oid::text, format('%I.%I', n.nspname, c.relname) as name, n.nspname as schema, c.relname as table, c.relkind::text as kind,
      (select json_agg(a.attname) from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped)::text as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.oid = to_regclass($1)`, [relation])
  if (root === undefined) refuse('relation', `there is no table ${relation} that the database user may see`)
  if (!['r', 'p'].includes(root.kind)) refuse('relation', `${root.name} is not a table: watch the tables that it reads`)
  return root
}

async function assertTables (client: PgQueryable, schema: string): Promise<void> {
  const [found] = await ask<{ is_there: boolean }>(client, 'select to_regclass($1) is not null as is_there', [`${quoteName(schema)}.recent_changes`])
  if (found?.is_there === true) return
  throw new RecruitingApiError('storage_not_ready', `the schema ${schema} has no table recent_changes: call migrate(pool, { schema: ${JSON.stringify(schema)} }) first`, 'schema')
}

/** Returns a table and its partitions, on which statements may act directly. */
async function listTables (client: PgQueryable, root: Root, schema: string): Promise<Table[]> {
  const tables = await ask<Table>(client, `
    with recursive tree as (
      select $1::oid as oid
      union
      select i.inhrelid from tree join pg_inherits i on i.inhparent = tree.oid
    )
    select format('%I.%I', n.nspname, c.relname) as name, c.relkind::text as kind,
      (
        select coalesce(json_agg(f.proname), '[]')::text from pg_trigger t join pg_proc f on f.oid = t.tgfoid
        where t.tgrelid = c.oid and t.tgenabled in ('O', 'A') and f.pronamespace = (select s.oid from pg_namespace s where s.nspname = $2)
      ) as functions
    from tree join pg_class c on c.oid = tree.oid join pg_namespace n on n.oid = c.relnamespace
    order by c.oid`, [root.oid, schema])
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

import { createHash } from 'node:crypto'
import { RecruitingApiError } from '../../../core/shared/errors.js'
import type { ChangeKind } from '../../../core/ports/index.js'
import {
  assertObject, assertOption, choice, orNull, type Reader, type Readers, readOptions
} from '../../../core/shared/read-options.js'
import { omitUndefined, readField } from '../../../core/shared/fields.js'
import { isEventType, readChangeKind } from '../../../core/shared/ids.js'
import { isStorableText } from '../../../core/shared/text.js'
import { assertPool, inTransaction, overrideTimeouts, type PgPool, type PgQueryable } from '../pool.js'
import { parseTransaction, rejectAutocommit } from '../transactions.js'
import { ask } from '../session.js'
import { quoteLiteral, quoteName, readSchema } from '../sql.js'
import {
  type Emitted, findWatchedTable, formatRecord, formatRegistration, formatTriggerBody, formatTriggers, isAsLeft,
  listTriggers, registerTable, type Root, type Watched
} from './watched-tables.js'

/** Options of `watch`. */
export interface WatchOptions {
  /**
   * The schema created by `migrate`.
   * @default 'recruiting'
   */
  schema?: string
  /** The resource that the table's rows belong to: `candidate`, `job` or the kind of an own list. */
  kind: ChangeKind
  /**
   * The column with the item's id, or an SQL expression over `row`. Unqualified names refer to the
   * table's schema. An array, or a query in parentheses, can return several ids.
   * @example '(select c.id from candidates c where c.owner_id = row.id)'
   */
  id: string
  /**
   * The column with the tenant's id, or an SQL expression over `row`. Without the option `tenantId`, the id is the
   * slug.
   * @example '(select slug from accounts where accounts.id = row.account_id)'
   */
  tenant: string
  /**
   * Events that the triggers emit for each row, up to 10, in the transaction that writes it: also that of an import.
   * @default none
   */
  emit?: WatchEmit | readonly WatchEmit[]
  /**
   * A client inside a transaction, or the result of a function such as `fromKnex(trx)`. `watch` runs in that
   * transaction, so that a migration changes columns and triggers together.
   * @default a new transaction
   */
  transaction?: unknown
}

/** An event that `watch` emits. */
export interface WatchEmit {
  /** An event type of your catalogue. */
  type: string
  /**
   * The writes that emit it. A row is updated if its primary key stays the same.
   * @default 'update'
   */
  on?: 'insert' | 'update' | 'delete'
  /**
   * For updates, which require it: emits only if one of these columns changed, up to 50. `changed` names them. An
   * object gives each column its name in the event, such as `{ stage: 'stage_id' }`.
   */
  when?: readonly string[] | Readonly<Record<string, string>>
  /**
   * The columns that become `data`, or an SQL expression over `row` that returns a JSON object. After a delete, `row`
   * is the deleted row. The trigger does not compare it with the schema of the type.
   * @example "json_build_object('id', row.id, 'stage', (select name from stages where id = row.stage_id))"
   */
  data: readonly string[] | string
  /** The column with the event's subject, or an SQL expression over `row`, for `erase`. @default none */
  subject?: string
  /** The column with the tenant's slug, or an SQL expression over `row`. @default the tenant's id */
  tenantSlug?: string
}

/** Options of `watchSql`. */
export type WatchSqlOptions = Omit<WatchOptions, 'transaction'>

/** A table that needs triggers: the watched one, or one of its partitions. */
interface Table {
  /** Quoted, with its schema. */
  name: string
  kind: string
  /** A JSON array of our functions that its enabled triggers call. */
  functions: string
}

const readExpression: Reader<string> = (value, path) => {
  assertOption(
    typeof value === 'string' && value.trim() !== '' && isStorableText(value), path,
    'the name of a column, or an SQL expression over row', value
  )
  return value
}

/** `when` has the names in the event with their columns, and `data` SQL or the names of columns. */
interface EmitSettings {
  type: string
  on: 'insert' | 'update' | 'delete'
  when: Array<[name: string, column: string]>
  data: string | string[]
  subject: string | null
  tenantSlug: string | null
}

const isNames = (value: unknown): value is string[] => Array.isArray(value) && value.length > 0 &&
  value.every((name) => typeof name === 'string' && /^[^\p{Cc}]{1,64}$/u.test(name))

const emitReaders: Readers<EmitSettings> = {
  type: (value: unknown, path) => {
    assertOption(typeof value === 'string' && isEventType(value), path, 'a name such as application.updated', value)
    return value
  },
  on: choice(['update', 'insert', 'delete'], 'update'),
  when: (value: unknown, path) => {
    const pairs = Array.isArray(value) ? value.map((name) => [name, name]) : Object.entries(Object(value ?? {}))
    const isPairs = value === undefined || (pairs.length > 0 && pairs.length <= 50 && isNames(pairs.flat()))
    const expected = 'an array of 1 to 50 columns, or an object of columns by name'
    assertOption(isPairs && typeof value !== 'string', path, expected, value)
    return pairs as Array<[string, string]>
  },
  data: (value: unknown, path) => isNames(value) ? [...value] : readExpression(value as string, path),
  subject: orNull(readExpression),
  tenantSlug: orNull(readExpression)
}

const readEmits: Reader<EmitSettings[], WatchSqlOptions['emit']> = (value = [], path) => {
  const given: unknown[] = Array.isArray(value) ? value : [value]
  assertOption(given.length <= 10, path, 'at most 10 events', value)
  return given.map((one, index) => {
    const place = Array.isArray(value) ? `${path}[${index}]` : path
    const emit = readOptions(one, emitReaders, place)
    const isRight = (emit.on === 'update') === (emit.when.length > 0)
    const expected = emit.on === 'update' ? 'the columns that must change' : 'nothing unless updates emit it'
    assertOption(isRight, `${place}.when`, expected, Reflect.get(Object(one), 'when'))
    return emit
  })
}

interface WatchSettings extends Required<Omit<WatchSqlOptions, 'emit'>> {
  emit: EmitSettings[]
}

const readers: Readers<WatchSettings> = {
  schema: readSchema,
  kind: readChangeKind,
  id: readExpression,
  tenant: readExpression,
  emit: readEmits
}

/**
 * Creates triggers on a table that record which items its rows belong to, so that `sync` reports every write of
 * applications, scripts and people. Rows with a null id or tenant are skipped. Truncating the table records
 * all its rows.
 *
 * The triggers never make a write fail. If an expression fails later, for example because a column was renamed, they
 * record that changes were missed. The kind's `sync` then returns 410 until you call `watch` for the table again.
 *
 * Call it at every start, after `migrate`. It changes nothing if its triggers are unchanged and recorded every change;
 * processes that start together wait for each other. If a trigger was dropped, disabled or failed, changes may be
 * missing. `watch` then creates the triggers again and expires the kind's tokens, so that clients start again. Call it
 * again after you add partitions: it records their rows. The caller must own the table. The triggers run with the
 * caller's privileges, so other users of the table need no others. A table has one set of triggers per kind: other
 * options replace it.
 *
 * With `emit`, the triggers also emit events, one for each row, so that imports, scripts and edits by hand emit too.
 * They check neither the catalogue nor `maxEventBytes`: an event has at most 262,144 bytes. If an event cannot be
 * emitted, the write succeeds, the events of its statement are missing, and the start and `doctor` report it until you
 * call `watch` with another `emit`. Workers find these events by polling. The caller needs the privileges of a process
 * that emits.
 *
 * With the option `transaction`, `pool` can be `null`. Other calls of `watch` wait until that transaction ends.
 *
 * Throws `invalid_option` for a relation that is not a table, and for a column or expression that is invalid, has a
 * wrong type or returns wrong values. It checks the values of up to 10,000 rows before it creates triggers. Throws
 * `invalid_event` if `transaction` is not a transaction, `storage_not_ready` before `migrate`, and database errors, for
 * example after waiting 5 s for a lock.
 */
export async function watch (pool: PgPool | null, relation: string, options: WatchOptions): Promise<void> {
  assertObject(options, 'options')
  const { transaction, ...own } = options
  assertRelation(relation)
  const settings = readOptions(own, readers)
  const work = (client: PgQueryable): Promise<void> => watchIn(client, relation, settings)
  if (transaction !== undefined) return inSavepoint(parseTransaction(transaction), work)
  assertPool(pool)
  await inTransaction(pool, async (client) => {
    await prepareSession(client)
    await work(client)
  })
}

/**
 * Returns the SQL that `watch` would run if the table had no triggers, for a migration that changes columns and
 * triggers together. Changes nothing. Call it where the table already has its new columns, such as a development
 * database. Running the SQL expires the kind's tokens. Checks and throws like `watch`.
 */
export async function watchSql (pool: PgPool, relation: string, options: WatchSqlOptions): Promise<string> {
  assertPool(pool)
  assertRelation(relation)
  const settings = readOptions(options, readers)
  return inTransaction(pool, async (client) => {
    await prepareSession(client)
    const plan = await planWatch(client, relation, settings)
    await trySample(client, plan.root, plan.watched)
    const { root, tables, triggers, functionOf, schema } = plan
    const statements = [
      ...formatTriggers(functionOf, triggers, tables), formatCleanup(schema),
      ...formatRegistration(quoteName(schema), root, { ...settings, emit: showEmits(settings) }, { endsTokens: true })
    ]
    return statements.map((statement) => `${statement.trim()};\n`).join('\n')
  })
}

function assertRelation (relation: string): void {
  const isName = typeof relation === 'string' && relation !== '' && isStorableText(relation)
  assertOption(isName, 'relation', 'the name of a table, such as public.people', relation)
}

/**
 * The database user's timeouts are for short statements. Names must equal the stored ones, which are unquoted if
 * possible.
 */
async function prepareSession (client: PgQueryable): Promise<void> {
  await client.query(overrideTimeouts(0))
  await client.query("select set_config('lock_timeout', '5s', true), set_config('quote_all_identifiers', 'off', true)")
}

const noTransaction = '25P01'
const changedSettings = [
  'statement_timeout', 'transaction_timeout', 'lock_timeout', 'quote_all_identifiers', 'search_path', 'row_security'
]

/** Runs `work` in the host's transaction and restores its settings. If `work` rejects, rolls back its changes. */
async function inSavepoint (client: PgQueryable, work: (client: PgQueryable) => Promise<void>): Promise<void> {
  await client.query('savepoint watch').catch((error: unknown) => {
    if (readField(error, 'code') === noTransaction) rejectAutocommit()
    throw error
  })
  try {
    const columns = changedSettings.map((name) => `current_setting('${name}', true) as ${name}`)
    const [before] = await ask<Record<string, string | null>>(client, `select ${columns.join(', ')}`)
    await prepareSession(client)
    await work(client)
    for (const [name, value] of Object.entries(before ?? {})) {
      if (value !== null) await client.query('select set_config($1, $2, true)', [name, value])
    }
    await client.query('release savepoint watch')
  } catch (error) {
    // If the connection is broken, the first error explains why.
    await client.query('rollback to savepoint watch').catch(() => {})
    throw error
  }
}

async function planWatch (client: PgQueryable, relation: string, { schema, ...options }: WatchSettings) {
  const { kind } = options
  const quotedSchema = quoteName(schema)
  const root = await findTable(client, relation)
  await assertTables(client, schema)
  const tables = await listTables(client, root, schema)
  const searchPath = quoteName(root.schema)
  // As in the triggers. If a policy would hide rows from an expression, the statement fails.
  await client.query("select set_config('search_path', $1, true), set_config('row_security', 'off', true)", [
    `${searchPath}, pg_temp`
  ])
  const expressions = await readExpressions(client, root, options)
  const emits = await planEmits(client, root, options.emit, expressions.tenant, quotedSchema)
  // With the expressions as SQL.
  const watched: Watched = { kind, ...expressions, emits }
  await client.query(formatRecord(watched, quotedSchema, [`(select * from ${root.name} where false)`]))

  const body = formatTriggerBody(watched, root, quotedSchema)
  const digest = createHash('sha256').update(root.schema).update('\0').update(body).digest('hex').slice(0, 16)
  const functionName = `watch_${kind}_${digest}`
  const triggers = listTriggers(kind, schema)
  const has = (functions: string): number =>
    (JSON.parse(functions) as string[]).filter((name) => name === functionName).length
  return {
    schema,
    root,
    tables,
    watched,
    triggers,
    functionOf: { name: `${quotedSchema}.${functionName}`, body, searchPath },
    missing: tables.filter(({ functions }) => has(functions) < triggers.length)
  }
}

async function watchIn (client: PgQueryable, relation: string, settings: WatchSettings): Promise<void> {
  const { schema } = settings
  const quotedSchema = quoteName(schema)
  await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `fastify-recruiting-api watch ${schema}`
  ])
  const { root, tables, watched, triggers, functionOf, missing } = await planWatch(client, relation, settings)
  const state = await findWatchedTable(client, quotedSchema, watched.kind, root)
  if (missing.length === 0 && isAsLeft(state)) return

  await trySample(client, root, watched)
  // Creating triggers waits for open transactions, so everything that they missed is visible afterwards.
  const created = state === undefined || state.missedSince === null ? missing : tables
  for (const statement of formatTriggers(functionOf, triggers, created)) await client.query(statement)
  await client.query(formatCleanup(schema))
  await registerTable(client, quotedSchema, root, {
    watched, options: { ...settings, emit: showEmits(settings) }
  })
}

async function findTable (client: PgQueryable, relation: string): Promise<Root> {
  const [root] = await tryOut<Root>(
    client,
    'relation',
    `
    select c.oid::text, format('%I.%I', n.nspname, c.relname) as name, n.nspname as schema, c.relname as table,
      c.relkind::text as kind,
      (select json_agg(a.attname) from pg_attribute a where a.attrelid = c.oid and a.attnum > 0
        and not a.attisdropped)::text as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.oid = to_regclass($1)`,
    [relation]
  )
  if (root === undefined) reject('relation', `there is no table ${relation} that the database user may see`)
  if (!['r', 'p'].includes(root.kind)) reject('relation', `${root.name} is not a table: watch the tables that it reads`)
  return root
}

async function assertTables (client: PgQueryable, schema: string): Promise<void> {
  const [found] = await ask<{ is_there: boolean }>(client, 'select to_regclass($1) is not null as is_there', [
    `${quoteName(schema)}.recent_changes`
  ])
  if (found?.is_there === true) return
  throw new RecruitingApiError(
    'storage_not_ready',
    `the schema ${schema} has no table recent_changes: call migrate(pool, { schema: ${JSON.stringify(schema)} }) first`,
    'schema'
  )
}

/** Returns a table and its partitions, which statements may write to directly. */
async function listTables (client: PgQueryable, root: Root, schema: string): Promise<Table[]> {
  const tables = await ask<Table>(
    client,
    `
    with recursive tree as (
      select $1::oid as oid
      union
      select i.inhrelid from tree join pg_inherits i on i.inhparent = tree.oid
    )
    select format('%I.%I', n.nspname, c.relname) as name, c.relkind::text as kind,
      (
        select coalesce(json_agg(f.proname), '[]')::text from pg_trigger t join pg_proc f on f.oid = t.tgfoid
        where t.tgrelid = c.oid and t.tgenabled in ('O', 'A')
          and f.pronamespace = (select s.oid from pg_namespace s where s.nspname = $2)
      ) as functions
    from tree join pg_class c on c.oid = tree.oid join pg_namespace n on n.oid = c.relnamespace
    order by c.oid`,
    [root.oid, schema]
  )
  const foreign = tables.find(({ kind }) => kind === 'f')
  if (foreign !== undefined) {
    const problem = `${foreign.name}, a partition of ${root.name}, is a foreign table`
    reject('relation', `${problem}: call changed for its rows instead`)
  }
  return tables
}

/** Returns the statement that drops functions whose triggers were replaced or dropped; `schema` is not quoted. */
function formatCleanup (schema: string): string {
  return `do ${quoteLiteral(`
declare
  v_name text;
begin
  for v_name in
    select format('%I.%I', n.nspname, p.proname) from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname = ${quoteLiteral(schema)} and p.proname ~ '^watch_[a-z0-9_]+_[0-9a-f]{16}$'
      and pg_has_role(p.proowner, 'usage') and not exists (select from pg_trigger t where t.tgfoid = p.oid)
  loop
    execute 'drop function ' || v_name || '()';
  end loop;
end`)}`
}

/** Returns the events as options of `watch`. */
function showEmits ({ emit }: WatchSettings): object[] {
  return emit.map(({ when, subject, tenantSlug, ...others }) => omitUndefined({
    ...others,
    when: when.length === 0 ? undefined : Object.fromEntries(when),
    subject: subject ?? undefined,
    tenantSlug: tenantSlug ?? undefined
  }))
}

/** Returns the events with their statements. Throws `invalid_option` if one cannot be emitted. */
async function planEmits (
  client: PgQueryable, root: Root, emits: readonly EmitSettings[], tenant: string, schema: string
): Promise<Emitted[]> {
  const keys = await ask<{ name: string }>(client, `
    select a.attname as name
    from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
    where i.indrelid = $1::oid and i.indisprimary order by a.attnum`, [root.oid])
  const columns: string[] = JSON.parse(root.columns)
  const column = (option: string, name: string): string => columns.includes(name)
    ? quoteName(name)
    : reject(option, `${root.name} has no column ${name}`)
  const planned: Emitted[] = []
  for (const [index, { type, on, when, data, subject, tenantSlug }] of emits.entries()) {
    const option = `emit[${index}]`
    if (on === 'update' && keys.length === 0) reject(option, `${root.name} has no primary key, which an update needs`)
    const express = (name: string, given: string): string => `(${toExpression(root, `${option}.${name}`, given)}\n)`
    const object = typeof data === 'string'
      ? express('data', data)
      : `pg_catalog.json_build_object(${data.map((name) =>
        `${quoteLiteral(name)}, row.${column(`${option}.data`, name)}`).join(', ')})`
    const changed = when.map(([name, given]) => {
      const compared = column(`${option}.when`, given)
      return `case when row.${compared} is distinct from before_row.${compared} then ${quoteLiteral(name)} end`
    })
    const joined = keys.map(({ name }) => `row.${quoteName(name)} = before_row.${quoteName(name)}`).join(' and ')
    const slug = tenantSlug === null ? tenant : `${express('tenantSlug', tenantSlug)}::text`
    const names = on === 'update'
      ? `pg_catalog.array_remove(array[${changed.join(', ')}]::text[], null)`
      : 'null::text[]'
    const call: Emitted['call'] = ({ rows, before, isTried = false }) => `
      ${schema}.emit_row_v1(item.tenant, item.slug, ${quoteLiteral(type)}::text, item.changed, item.data, item.subject)
      from (
        select ${tenant} as tenant, ${slug} as slug, ${names} as changed,
          pg_catalog.to_json(${object})::text as data,
          ${subject === null ? 'null' : `${express('subject', subject)}::text`} as subject
        from ${rows} as row${on === 'update' ? ` join ${before} as before_row on ${joined}` : ''}
      ) as item
      where char_length(item.tenant) between 1 and 200 and char_length(item.slug) between 1 and 200
        and (${isTried} or item.changed is null or pg_catalog.cardinality(item.changed) > 0)`
    planned.push({ type, on, call })
    const withoutRow = `${schema}.emit_row_v1('watch', 'watch', ${quoteLiteral(type)}, null, '{}', null)`
    await tryEmit(client, root, option, call, withoutRow)
  }
  return planned
}

/** Emits an event for some rows, and one without a row, which needs all privileges; then takes them back. */
async function tryEmit (
  client: PgQueryable, root: Root, option: string, call: Emitted['call'], alone: string
): Promise<void> {
  const rows = `(select * from ${root.name} limit 10)`
  await client.query('savepoint try_emit')
  try {
    await tryOut(client, option, `select ${alone}`)
    await tryOut(client, option, `select ${call({ rows, before: rows, isTried: true })}`)
  } finally {
    await client.query('rollback to try_emit').catch(() => {})
  }
}

/** The type of an expression; `item` is an array's element type. */
interface ExpressionType {
  name: string
  category: string
  base: string
  item: string | null
}

const sampleRows = 10_000
const idTypes = ['smallint', 'integer', 'bigint', 'numeric', 'uuid']

/** Returns the expressions as SQL that returns text. Throws `invalid_option` if one cannot return an id or a tenant. */
async function readExpressions (
  client: PgQueryable, root: Root, { id, tenant }: Pick<Watched, 'id' | 'tenant'>
): Promise<Pick<Watched, 'id' | 'tenant'>> {
  return {
    id: await readIds(client, root, toExpression(root, 'id', id)),
    tenant: await readTenant(client, root, toExpression(root, 'tenant', tenant))
  }
}

/** Tries the expressions on some rows: a query may return several rows for one of them, or text that is not an id. */
async function trySample (client: PgQueryable, root: Root, { kind, id, tenant }: Watched): Promise<void> {
  const sample = `(select * from ${root.name} limit ${sampleRows})`
  for (const [option, expression, isUsable, wanted] of [
    ['id', id, "value ~ '^[!-.0-~]{1,64}$'", `the id of an item of the kind ${kind}`],
    ['tenant', tenant, 'char_length(value) between 1 and 200', 'the id of a tenant']
  ] as const) {
    await tryNoRow(client, root, option, expression)
    const [row] = await tryOut<{ found: string, usable: string }>(client, option, `
      select count(value)::text as found, count(*) filter (where ${isUsable})::text as usable
      from ${sample} as row cross join lateral (select ${expression}) as item (value)`)
    if (Number(row?.found) > 0 && Number(row?.usable) === 0) {
      reject(option, `none of the values in ${root.name} can be ${wanted}`)
    }
  }
}

/** Throws for a query that always returns several rows, even if the table is empty: no change could be recorded. */
async function tryNoRow (client: PgQueryable, root: Root, option: string, expression: string): Promise<void> {
  await client.query('savepoint try_no_row')
  const error = await client.query(`
    select item.value from (select) as one left join ${noRows(root)} as row on true
      cross join lateral (select ${expression}) as item (value)`).then(() => null, (error: unknown) => error)
  await client.query('rollback to try_no_row')
  // Missing values may cause other errors.
  if (readField(error, 'code') === '21000') reject(option, String(readField(error, 'message')), error)
}

/** A name that is not a column is more likely a typo than an expression. */
function toExpression ({ name, columns }: Root, option: string, given: string): string {
  if ((JSON.parse(columns) as string[]).includes(given)) return `row.${quoteName(given)}`
  if (/^[\p{L}\p{N}_$]+$/u.test(given)) reject(option, `${name} has no column ${given}`)
  return given
}

/** Returns the SQL of one id, or of several: from an array, a set-returning function or a query. */
async function readIds (client: PgQueryable, root: Root, expression: string): Promise<string> {
  if (await isQuery(client, root, expression)) {
    assertType('id', await readType(client, root, 'id', `(${expression}\n)`))
    return `pg_catalog.unnest(array(${expression}\n)::text[]) collate "C"`
  }
  const type = await readType(client, root, 'id', expression)
  assertType('id', { ...type, base: type.item ?? type.base, item: null })
  return type.item === null ? `(${expression}\n)::text collate "C"` : `pg_catalog.unnest((${expression}\n)::text[]) collate "C"`
}

async function readTenant (client: PgQueryable, root: Root, expression: string): Promise<string> {
  assertType('tenant', await readType(client, root, 'tenant', expression))
  // A set of tenants would record each id for every tenant. PostgreSQL rejects sets in a where clause.
  await tryOut(client, 'tenant', `select from ${noRows(root)} as row where (${expression}\n) is null`)
  return `(${expression}\n)::text collate "C"`
}

function assertType (option: string, { name, category, base, item }: ExpressionType): void {
  const isPossible = item === null && (['S', 'E'].includes(category) || idTypes.includes(base))
  if (!isPossible) reject(option, `expected text, an integer or a uuid, got ${name}`)
}

async function readType (client: PgQueryable, root: Root, option: string, expression: string): Promise<ExpressionType> {
  const [type] = await tryOut<ExpressionType>(client, option, `
    select format_type(t.oid, null) as name, coalesce(i.typcategory, t.typcategory)::text as category,
      format_type(coalesce(nullif(t.typbasetype, 0), t.oid), null) as base,
      case when t.typcategory = 'A' then format_type(coalesce(nullif(i.typbasetype, 0), i.oid), null) end as item
    from (select) as one
    left join (${noRows(root)} as row cross join lateral (select ${expression}\n) as item (value)) on true
    join pg_type t on t.oid = pg_typeof(item.value)
    left join pg_type i on i.oid = t.typelem and t.typcategory = 'A'`)
  return { name: '', category: '', base: '', item: null, ...type }
}

function noRows (root: Root): string {
  return `(select * from ${root.name} where false)`
}

async function isQuery (client: PgQueryable, root: Root, expression: string): Promise<boolean> {
  await client.query('savepoint try_query')
  const isQuery = await client.query(`select array(${expression}\n) from ${noRows(root)} as row`)
    // Reading its type reports errors other than syntax errors.
    .then(() => true, (error: unknown) => readField(error, 'code') !== '42601')
  await client.query('rollback to try_query')
  return isQuery
}

/** Runs a statement. Errors in its text or values, and missing privileges, become errors of an option. */
async function tryOut<Row> (
  client: PgQueryable, option: string, text: string, values?: unknown[]
): Promise<Row[]> {
  try {
    return await ask<Row>(client, text, values)
  } catch (error) {
    if (!/^(0A|2[12]|42|P0001)/.test(String(readField(error, 'code')))) throw error
    return reject(option, String(readField(error, 'message')), error)
  }
}

function reject (option: string, problem: string, cause?: unknown): never {
  throw new RecruitingApiError('invalid_option', `${option}: ${problem}`, option, cause === undefined ? {} : { cause })
}

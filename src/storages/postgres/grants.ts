import type { RunQuery } from './session.js'
import { quoteName } from './sql.js'

type Privilege = 'select' | 'insert' | 'update' | 'delete' | 'usage'

type Privileges = Readonly<Record<string, readonly Privilege[]>>

/** The privileges of a process that delivers, emits, serves and prunes, by table and sequence name. */
export interface Rights {
  tables: Privileges
  sequences: Privileges
}

const all = ['select', 'insert', 'update', 'delete'] as const

/** Every table needs an entry here. A test finds missing privileges and unused ones. */
export const rights: Rights = {
  tables: {
    migrations: ['select'],
    tenants: ['select', 'insert', 'update'],
    webhooks: all,
    webhook_health: all,
    notices: all,
    events: all,
    event_subjects: ['select', 'insert', 'delete'],
    queue: all,
    paused_webhooks: all,
    // Rows are locked before they are deleted, which needs update.
    stopped_webhooks: all,
    marks: all,
    deliveries: all,
    api_keys: all,
    requests: all,
    // Rows are locked before they are moved, which needs update.
    recent_changes: all,
    changes: all,
    change_state: ['select', 'update'],
    home: ['select', 'update'],
    watched_tables: ['select'],
    missed_changes: ['select', 'insert'],
    ended_changes: ['select', 'insert', 'update']
  },
  sequences: {
    webhook_ids: ['usage'],
    delivery_ids: ['usage'],
    fences: ['usage'],
    turns: ['select', 'update'],
    event_clock: ['select', 'update']
  }
}

const eventColumns = [
  'seq', 'sequence', 'id', 'tenant_key', 'type', 'body', 'filter_body', 'tombstone', 'subject', 'idempotency_key',
  'trace_parent', 'fingerprint', 'recorded_at'
]
const queuedColumns = ['event_seq', 'webhook_id', 'event_type', 'created_at']

/** Privileges by table or sequence, each with its columns, or `[]` for all. */
type Needs = Readonly<Record<string, Readonly<Partial<Record<Privilege, readonly string[]>>>>>

/** The privileges of a process that only emits events and records changes. It can read no secret. */
const emitRights: Needs = {
  migrations: { select: ['name'] },
  tenants: { select: ['key', 'tenant', 'rests_until', 'suspended_at', 'renamed_at'] },
  webhooks: { select: ['id', 'tenant', 'status', 'event_types', 'filter_path', 'changed', 'subscription_id'] },
  events: {
    select: ['seq', 'sequence', 'id', 'tenant_key', 'idempotency_key', 'deliveries', 'fingerprint'],
    insert: eventColumns,
    update: ['deliveries']
  },
  event_subjects: { insert: ['tenant_key', 'subject', 'event_seq'] },
  deliveries: { insert: [...queuedColumns, 'id', 'status', 'ended_at'] },
  queue: { select: ['id'], insert: [...queuedColumns, 'lane', 'due_at'] },
  recent_changes: { insert: ['tenant', 'kind', 'id', 'deleted', 'changed_at'] },
  home: { select: ['system', 'database_oid', 'table_oid', 'environment', 'held_since'] }
}

function needsOf (isEmitter: boolean): { table: Needs, sequence: Needs } {
  const emitSequences: Needs = { delivery_ids: { usage: [] }, event_clock: { select: [], update: [] } }
  if (isEmitter) return { table: emitRights, sequence: emitSequences }
  const whole = (privileges: Privileges): Needs => Object.fromEntries(Object.entries(privileges)
    .map(([name, names]) => [name, Object.fromEntries(names.map((privilege) => [privilege, []]))]))
  return { table: whole(rights.tables), sequence: whole(rights.sequences) }
}

/**
 * Lists the `grant` statements for a role of servers and workers, or of processes that only emit. `schema` and `role`
 * are not quoted. `lists` are the host's relations.
 */
export function listGrants (
  schema: string, role: string, lists: readonly HostRelation[] = [], isEmitter = false
): string[] {
  const [namespace, to] = [quoteName(schema), `to ${quoteName(role)}`]
  const grants = Object.entries(needsOf(isEmitter)).flatMap(([kind, needs]) =>
    Object.entries(needs).map(([name, privileges]) => {
      const names = Object.entries(privileges).map(([privilege, columns]) =>
        columns.length === 0 ? privilege : `${privilege} (${columns.join(', ')})`)
      return `grant ${names.join(', ')} on ${kind} ${namespace}.${name} ${to}`
    }))
  return [
    ...new Set([
      `grant usage on schema ${namespace} ${to}`,
      ...grants,
      // They run with the caller's rights, except those that read locks and sequences.
      `grant execute on all functions in schema ${namespace} ${to}`,
      ...lists.flatMap((list) => [
        `grant usage on schema ${list.schema} ${to}`,
        `grant select on table ${list.schema}.${list.name} ${to}`
      ])
    ])
  ]
}

/** One of the host's tables or views. Both names are quoted. */
export interface HostRelation {
  schema: string
  name: string
}

/** Finds a relation by its SQL name, even without privileges on it. `null` if it does not exist. */
export async function findHostRelation (query: RunQuery, sqlName: string): Promise<HostRelation | null> {
  const [row] = await query<HostRelation>(
    `
    select quote_ident(n.nspname) as schema, quote_ident(c.relname) as name
    from (select parse_ident($1) as parts, current_schemas(true) as path) as given
    join pg_class c on c.relname = parts[cardinality(parts)] and c.relkind in ('r', 'p', 'v', 'm', 'f')
    join pg_namespace n on n.oid = c.relnamespace
      and n.nspname = any (case when cardinality(parts) = 1 then path else parts[cardinality(parts) - 1:cardinality(parts) - 1]::name[] end)
    order by array_position(path, n.nspname)
    limit 1`,
    [sqlName]
  )
  return row ?? null
}

/**
 * Lists the privileges of `listGrants` that a role lacks, such as `select on queue`. Any role may call it. `schema` and
 * `role` are not quoted.
 */
export async function listLacking (
  query: RunQuery, schema: string, role: string, isEmitter = false
): Promise<string[]> {
  const wanted = Object.values(needsOf(isEmitter)).flatMap((needs) => Object.entries(needs))
    .flatMap(([name, privileges]) => Object.entries(privileges).flatMap(([privilege, columns]) =>
      (columns.length === 0 ? [null] : columns).map((column) => ({ name, privilege, column }))))
  const rows = await query<{ lacking: string }>(`
    select 'usage on the schema' as lacking from pg_namespace n where n.nspname = $1
      and not has_schema_privilege($2, n.oid, 'usage')
    union all
    select format('%s on %s', wanted.privilege, wanted.name)
    from unnest($3::text[], $4::text[], $5::text[]) as wanted (name, privilege, field)
    join pg_namespace n on n.nspname = $1
    join pg_class c on c.relnamespace = n.oid and c.relname = wanted.name
    where not case
      when c.relkind = 'S' then has_sequence_privilege($2, c.oid, wanted.privilege)
      when wanted.field is null then has_table_privilege($2, c.oid, wanted.privilege)
      else has_column_privilege($2, c.oid, wanted.field, wanted.privilege)
    end
    union all
    select format('execute on %s', p.proname) from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
    where n.nspname = $1 and p.prorettype <> 'trigger'::regtype and not has_function_privilege($2, p.oid, 'execute')`,
  [schema, role, ...(['name', 'privilege', 'column'] as const).map((key) => wanted.map((one) => one[key]))])
  return [...new Set(rows.map(({ lacking }) => lacking))]
}

/** Lists a role's missing privileges on the host's relations. `role` is not quoted. */
export async function listLackingOnLists (
  query: RunQuery, role: string, lists: readonly HostRelation[]
): Promise<string[]> {
  const rows = await query<{ lacking: string }>(
    `
    select distinct 'usage on the schema ' || l.schema as lacking
    from unnest($2::text[], $3::text[]) as l (schema, name)
    join pg_namespace n on quote_ident(n.nspname) = l.schema
    where not has_schema_privilege($1, n.oid, 'usage')
    union all
    select format('select on %s.%s', l.schema, l.name)
    from unnest($2::text[], $3::text[]) as l (schema, name)
    join pg_namespace n on quote_ident(n.nspname) = l.schema
    join pg_class c on c.relnamespace = n.oid and quote_ident(c.relname) = l.name
    where not has_table_privilege($1, c.oid, 'select') and not has_any_column_privilege($1, c.oid, 'select')
    order by lacking desc`,
    [role, lists.map(({ schema }) => schema), lists.map(({ name }) => name)]
  )
  return rows.map(({ lacking }) => lacking)
}

/** Lists the statements that grant again what other roles than the owner may do with the host's relations. */
export async function listHeld (query: RunQuery, lists: readonly HostRelation[]): Promise<string[]> {
  const rows = await query<{ statement: string }>(
    `
    select format('grant %s on table %s.%s to %s%s', string_agg(held.privilege, ', ' order by held.privilege),
      held.schema, held.name, held.role, case when held.is_grantable then ' with grant option' else '' end) as statement
    from (
      select l.schema, l.name, acl.is_grantable,
        lower(acl.privilege_type) || coalesce(' (' || quote_ident(acl.column) || ')', '') as privilege,
        case acl.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(acl.grantee)) end as role
      from unnest($1::text[], $2::text[]) as l (schema, name)
      join pg_namespace n on quote_ident(n.nspname) = l.schema
      join pg_class c on c.relnamespace = n.oid and quote_ident(c.relname) = l.name
      cross join lateral (
        select null as column, a.* from aclexplode(c.relacl) as a
        union all
        select t.attname, a.* from pg_attribute t cross join lateral aclexplode(t.attacl) as a
        where t.attrelid = c.oid and not t.attisdropped
      ) as acl
      where acl.grantee <> c.relowner
    ) as held
    group by held.schema, held.name, held.role, held.is_grantable
    order by 1`,
    [lists.map(({ schema }) => schema), lists.map(({ name }) => name)]
  )
  return rows.map(({ statement }) => statement)
}

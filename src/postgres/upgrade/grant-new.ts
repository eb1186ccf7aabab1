import type { Rights } from '../grants.js'
import type { RunQuery } from '../session.js'
import { quoteName } from '../sql.js'

/** Lists the tables and sequences of the current schema. */
export async function findRelations (query: RunQuery): Promise<Set<string>> {
  const rows = await query<{ name: string }>(
    "select relname::text as name from pg_class where relnamespace = quote_ident(current_schema())::regnamespace and relkind in ('r', 'p', 'S')"
  )
  return new Set(rows.map(({ name }) => name))
}

/**
 * Grants each privilege on new tables to the roles that have the same one on `events`, so that processes keep
 * working, and roles that only read get no more. Roles that may insert events may use new sequences.
 */
export async function grantRelations (
  query: RunQuery,
  { tables, sequences }: Rights,
  known: ReadonlySet<string>
): Promise<void> {
  const found = [...(await findRelations(query))].filter((name) => !known.has(name))
  for (const { role, privilege } of await findHolders(query)) {
    for (const name of found) {
      const wanted =
        privilege === 'insert' && Object.hasOwn(sequences, name)
          ? sequences[name]
          : tables[name]?.filter((one) => one === privilege)
      if (wanted !== undefined && wanted.length > 0) {
        await query(`grant ${wanted.join(', ')} on ${quoteName(name)} to ${role}`)
      }
    }
  }
}

/** Grants new functions to the roles that may insert events, unless every role may call them. */
export async function grantFunctions (query: RunQuery, names: readonly string[]): Promise<void> {
  const holders = (await findHolders(query)).filter(({ privilege }) => privilege === 'insert')
  const rows = await query<{ signature: string }>(
    `
    select oid::regprocedure::text as signature from pg_proc
    where pronamespace = quote_ident(current_schema())::regnamespace and proname = any ($1)
      and not has_function_privilege('public', oid, 'execute')`,
    [names]
  )
  for (const { role } of holders) {
    for (const { signature } of rows) await query(`grant execute on function ${signature} to ${role}`)
  }
}

interface Holder {
  /** Quoted. */
  role: string
  privilege: string
}

/** Lists the privileges on `events`, without those of its owner. */
async function findHolders (query: RunQuery): Promise<Holder[]> {
  return query<Holder>(`
    select case acl.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(acl.grantee)) end as role,
      lower(acl.privilege_type) as privilege
    from pg_class c cross join lateral aclexplode(c.relacl) as acl
    where c.oid = to_regclass('events') and acl.grantee <> c.relowner`)
}

import type { Tenant, WebhookStore } from '../ports/index.js'
import type { Session } from './session.js'

/** Converts a stored secret, or stored headers, for the new id of a tenant. */
type Reseal = (secret: string, webhookId: number) => string

const eventsPerBatch = 1000

/** The tables with tenants, each with an index that begins with the column. */
const owners = {
  webhooks: 'tenant',
  api_keys: 'tenant',
  changes: 'tenant',
  recent_changes: 'tenant',
  events: 'tenant_key'
}

/**
 * Lists the ids of all tenants with stored data. `schema` is quoted. Costs what it returns: each id is one look into
 * an index.
 */
export async function listTenantIds (session: Session, schema: string): Promise<string[]> {
  const ids = new Set<string>()
  for (const [table, column] of Object.entries(owners)) {
    const rows = await session.query<{ id: string }>(
      'list tenants',
      `
      with recursive owner as (
        select min(${column}) as key from ${schema}.${table}
        union all
        select (select min(t.${column}) from ${schema}.${table} t where t.${column} > owner.key)
        from owner where owner.key is not null
      )
      ${selectIds(schema, table)}`
    )
    // A removed tenant has events without an owner for a while.
    for (const { id } of rows) if (id !== null) ids.add(id)
  }
  return [...ids].sort()
}

function selectIds (schema: string, table: string): string {
  if (table === 'events') {
    return `
      select case when t.key is null then owner.key else t.tenant end as id
      from owner left join ${schema}.tenants t on t.key = owner.key
      where owner.key is not null`
  }
  if (!table.endsWith('changes')) return 'select owner.key as id from owner where owner.key is not null'
  // Ended changes of renamed and removed tenants do not count.
  return `
      select owner.key as id
      from owner
      left join ${schema}.ended_changes ended on ended.tenant_digest = sha256(convert_to(owner.key, 'UTF8'))
      where exists (
        select from ${schema}.${table} c
        where c.tenant = owner.key and c.kind in ('candidate', 'job') and c.seq > coalesce(ended.last_seq, 0)
      )`
}

/**
 * Gives everything of the tenant whose id is its slug to an id, which may already have data. In short transactions:
 * after an interruption, the next call continues. Syncs of the tenant begin again.
 */
export async function moveToId (
  { session, schema, webhooks }: { session: Session, schema: string, webhooks: Pick<WebhookStore, 'renameTenant'> },
  { slug, id }: Tenant,
  reseal: Reseal
): Promise<void> {
  const renamed = await webhooks.renameTenant({ slug, id: slug }, { slug, id }, { reseal })
  if (renamed !== null) return
  while (await mergeBatch(session, schema, { slug, id }, reseal));
}

interface SecretRow {
  id: string
  secret: string
  previous: string | null
  headers: string | null
}

async function mergeBatch (session: Session, schema: string, { slug, id }: Tenant, reseal: Reseal): Promise<boolean> {
  return session.transaction('merge tenants', async (query) => {
    const rows = await query<SecretRow>(`
      select id::text, secret, headers,
        case when previous_secret_expires_at > clock_timestamp() then previous_secret end as previous
      from ${schema}.webhooks where tenant = $1 order by id for update`, [slug])
    const secrets = rows.map(({ id: webhookId, secret, previous, headers }) => {
      const convert = (text: string): string => reseal(text, Number(webhookId))
      return {
        id: Number(webhookId),
        secret: convert(secret),
        previous: previous && convert(previous),
        headers: headers && convert(headers)
      }
    })
    const [row] = await query<{ left: boolean }>(`select ${schema}.merge_tenant_v1($1, $2, $3, $4, $5) as left`,
      [slug, id, slug, JSON.stringify(secrets), eventsPerBatch])
    return row?.left === true
  })
}

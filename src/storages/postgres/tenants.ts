import type { RenameOptions, Tenant, TenantState, WebhookStore } from '../../core/ports/index.js'
import type { Due } from './deliveries/due.js'
import type { StopDeliveries } from './deliveries/queue.js'
import type { Session } from './session.js'
import { toIso } from './sql.js'
import { type Call, runInTransaction } from './transactions.js'

export type TenantMethod =
  'renameTenant' | 'removeTenant' | 'suspendTenant' | 'resumeTenant' | 'listStates' | 'listIdsLikeSlugs'

/** Renames, removes and suspends tenants in PostgreSQL, and lists their states; `schema` is quoted. */
export function createTenants (
  session: Session, schema: string, stop: StopDeliveries, due: Due
): Pick<Required<WebhookStore>, TenantMethod> {
  async function rename (
    call: Call, from: Tenant, to: Tenant, { reseal, restSeconds = 0 }: RenameOptions
  ): Promise<number | null> {
    if (from.id === to.id) return Number(await call(`${schema}.name_tenant_v1($1, $2)`, [to.id, to.slug]))
    const locked = JSON.parse(await call(`${schema}.lock_tenant_v1($1, $2)`, [from.id, to.id])) as Sealed[] | null
    if (locked === null) return null
    return Number(await call(`${schema}.rename_tenant_v1($1, $2, $3, $4, $5)`, [
      from.id, to.id, to.slug, JSON.stringify(resealAll(locked, reseal)), restSeconds
    ]))
  }

  return {
    renameTenant: (from, to, options) =>
      runInTransaction(session, 'rename tenant', options.transaction, (call) => rename(call, from, to, options)),

    removeTenant: (tenant, { limit, restSeconds = 0, transaction }) =>
      runInTransaction(session, 'remove tenant', transaction, async (call) =>
        Number(await call(`${schema}.remove_tenant_v1($1, $2, $3)`, [tenant, limit, restSeconds]))),

    suspendTenant: (tenant, { transaction } = {}) =>
      runInTransaction(session, 'suspend tenant', transaction, (call) =>
        call(`${schema}.suspend_tenant_v1($1)`, [tenant])),

    async resumeTenant (tenant, { pending, transaction }) {
      const since = await runInTransaction(session, 'resume tenant', transaction, (call) =>
        call(`${schema}.resume_tenant_v1($1, $2)`, [tenant, pending === 'skip']))
      if (transaction === undefined) {
        // They are already skipped. Hourly pruning moves the remaining ones.
        if (pending === 'skip') await stop.sweepLeft().catch(() => {})
        due.notify()
      }
      return since === 'null' ? null : since
    },

    listStates: () => session.query<TenantState>('list states of tenants', `
      select tenant as "tenantId", ${toIso('rests_until')} as "restsUntil",
        ${toIso('suspended_at')} as "suspendedSince", ${toIso('renamed_at')} as "renamedAt"
      from ${schema}.list_tenant_states_v1()`),

    async listIdsLikeSlugs (limit) {
      const rows = await session.query<{ tenant: string }>('list ids like slugs', `
        select tenant from ${schema}.webhooks where tenant = tenant_slug
        union select tenant from ${schema}.api_keys where tenant = tenant_slug
        order by 1 limit $1`, [limit])
      return rows.map(({ tenant }) => tenant)
    }
  }
}

/** A webhook's valid secrets and its headers, encrypted if the host uses `secretKeys`. */
interface Sealed {
  id: number
  secret: string
  previous: string | null
  headers: string | null
}

function resealAll (webhooks: readonly Sealed[], reseal: RenameOptions['reseal']): Sealed[] {
  return webhooks.map(({ id, secret, previous, headers }) => ({
    id,
    secret: reseal(secret, id),
    previous: previous && reseal(previous, id),
    headers: headers && reseal(headers, id)
  }))
}

/** Lists the ids of all tenants with stored data. `schema` is quoted. Each id costs one index lookup. */
export async function listTenantIds (session: Session, schema: string): Promise<string[]> {
  const keys = 'select owner.key as id from owner where owner.key is not null'
  const ofEvents = `
    select case when t.key is null then owner.key else t.tenant end as id
    from owner left join ${schema}.tenants t on t.key = owner.key
    where owner.key is not null`
  // Skips old changes of renamed and removed tenants.
  const ofChanges = (table: string): string => `
    select owner.key as id
    from owner
    left join ${schema}.ended_changes ended on ended.tenant_digest = sha256(convert_to(owner.key, 'UTF8'))
    where exists (
      with recursive kind as (
        select ${schema}.next_kind_v1(owner.key, '') as name
        union all
        select ${schema}.next_kind_v1(owner.key, kind.name) from kind where kind.name is not null
      )
      select from kind join ${schema}.${table} c
        on c.tenant = owner.key and c.kind = kind.name and c.seq > coalesce(ended.last_seq, 0)
    )`

  const ids = new Set<string>()
  // Each table has an index whose first column is this one.
  for (const [table, column, select] of [
    ['webhooks', 'tenant', keys],
    ['api_keys', 'tenant', keys],
    ['changes', 'tenant', ofChanges('changes')],
    ['recent_changes', 'tenant', ofChanges('recent_changes')],
    ['events', 'tenant_key', ofEvents]
  ] as const) {
    const rows = await session.query<{ id: string | null }>('list tenants', `
      with recursive owner as (
        select min(${column}) as key from ${schema}.${table}
        union all
        select (select min(t.${column}) from ${schema}.${table} t where t.${column} > owner.key)
        from owner where owner.key is not null
      )
      ${select}`)
    // Events of a removed tenant have no owner until they are deleted.
    for (const { id } of rows) if (id !== null) ids.add(id)
  }
  return [...ids].sort()
}

const eventsPerBatch = 1000

/**
 * Moves all data of the tenant whose id is its slug to a new id, which may already have data. Uses short transactions:
 * after an interruption, the next call continues. The tenant's syncs start again.
 */
export async function moveToId (
  { session, schema, webhooks }: { session: Session, schema: string, webhooks: Pick<WebhookStore, 'renameTenant'> },
  { slug, id }: Tenant, reseal: RenameOptions['reseal']
): Promise<void> {
  const renamed = await webhooks.renameTenant({ slug, id: slug }, { slug, id }, { reseal })
  for (let hasMore = renamed === null; hasMore;) {
    hasMore = await session.transaction('merge tenants', async (query) => {
      const locked = await query<Omit<Sealed, 'id'> & { id: string }>(`
        select id::text, secret, headers,
          case when previous_secret_expires_at > clock_timestamp() then previous_secret end as previous
        from ${schema}.webhooks w where w.tenant = $1 order by w.id for update`, [slug])
      const resealed = resealAll(locked.map((webhook) => ({ ...webhook, id: Number(webhook.id) })), reseal)
      const [row] = await query<{ left: boolean }>(`select ${schema}.merge_tenant_v1($1, $2, $3, $4, $5) as left`,
        [slug, id, slug, JSON.stringify(resealed), eventsPerBatch])
      return row?.left === true
    })
  }
}

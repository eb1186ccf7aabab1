import type { RenameOptions, RestingTenant, Tenant, Webhook, WebhookStatus, WebhookStore } from '../../ports/index.js'
import { type Call, runInTransaction } from '../transactions.js'
import type { Session } from '../session.js'
import { toIso } from '../sql.js'

/** The columns that `parseWebhook` reads. */
export const webhookColumns = `
  id::text, name, status, target_url, array_to_json(event_types)::text as event_types,
  array_to_json(header_names)::text as header_names, filters::text as filters,
  ${toIso('created_at')} as created_at, ${toIso('updated_at')} as updated_at`

export interface WebhookRow {
  id: string
  name: string
  status: WebhookStatus
  target_url: string
  event_types: string
  /** A JSON array, or `null`. */
  header_names: string | null
  /** A JSON object, or `null`. */
  filters: string | null
  created_at: string
  updated_at: string
}

export function parseWebhook (row: WebhookRow): Webhook {
  return {
    id: Number(row.id),
    name: row.name,
    status: row.status,
    target_url: row.target_url,
    event_types: JSON.parse(row.event_types),
    headers:
      row.header_names === null
        ? null
        : Object.fromEntries(JSON.parse(row.header_names).map((name: string) => [name, null])),
    filters: row.filters === null ? null : JSON.parse(row.filters),
    created_at: row.created_at,
    updated_at: row.updated_at
  }
}

/** The secret, and the previous one while it is valid. */
export const secretColumns = `
  secret, case when previous_secret_expires_at > clock_timestamp() then previous_secret end as previous_secret`

export interface SecretRow {
  secret: string
  previous_secret: string | null
}

/** Returns the valid secrets, the newest first. */
export function parseSecrets ({ secret, previous_secret: previous }: SecretRow): string[] {
  return previous === null ? [secret] : [secret, previous]
}

interface Secrets {
  id: number
  secret: string
  previous: string | null
  headers: string | null
}

type TenantMethod = 'renameTenant' | 'removeTenant' | 'listResting' | 'listIdsLikeSlugs'

/** Renames and removes tenants in PostgreSQL, and lists those that rest; `schema` is quoted. */
export function createTenants (session: Session, schema: string): Pick<Required<WebhookStore>, TenantMethod> {
  async function rename (
    call: Call,
    from: Tenant,
    to: Tenant,
    { reseal, restSeconds = 0 }: RenameOptions
  ): Promise<number | null> {
    if (from.id === to.id) return Number(await call(`${schema}.name_tenant_v1($1, $2)`, [to.id, to.slug]))
    const locked = JSON.parse(await call(`${schema}.lock_tenant_v1($1, $2)`, [from.id, to.id])) as Secrets[] | null
    if (locked === null) return null
    const secrets = locked.map(({ id, secret, previous, headers }) => ({
      id,
      secret: reseal(secret, id),
      previous: previous && reseal(previous, id),
      headers: headers && reseal(headers, id)
    }))
    return Number(
      await call(`${schema}.rename_tenant_v1($1, $2, $3, $4, $5)`, [
        from.id,
        to.id,
        to.slug,
        JSON.stringify(secrets),
        restSeconds
      ])
    )
  }

  return {
    renameTenant: (from, to, options) =>
      runInTransaction(session, 'rename tenant', options.transaction, (call) => rename(call, from, to, options)),

    removeTenant: (tenant, { limit, restSeconds = 0, transaction }) =>
      runInTransaction(session, 'remove tenant', transaction, async (call) =>
        Number(await call(`${schema}.remove_tenant_v1($1, $2, $3)`, [tenant, limit, restSeconds]))
      ),

    listResting: () =>
      session.query<RestingTenant>(
        'list resting tenants',
        `select tenant as "tenantId", ${toIso('rests_until')} as until from ${schema}.list_resting_v1()`
      ),

    async listIdsLikeSlugs (limit) {
      const rows = await session.query<{ tenant: string }>(
        'list ids like slugs',
        `
        select tenant from ${schema}.webhooks where tenant = tenant_slug
        union select tenant from ${schema}.api_keys where tenant = tenant_slug
        order by 1 limit $1`,
        [limit]
      )
      return rows.map(({ tenant }) => tenant)
    }
  }
}

import type { NewWebhook, SecretRotation, WebhookChanges, WebhookFilter, WebhookSortField, WebhookStore } from '../../ports/index.js'
import type { Due } from '../deliveries/due.js'
import type { Session } from '../session.js'
import { Conditions, moment, orderBy, toIso } from '../sql.js'
import type { StopDeliveries } from '../deliveries/stop.js'
import { type SecretRow, type WebhookRow, parseSecrets, parseWebhook, secretColumns, webhookColumns } from './webhook-row.js'

const sortColumns: Record<WebhookSortField, string> = {
  id: 'id',
  name: 'name collate "C"',
  created_at: 'created_at',
  updated_at: 'updated_at'
}

/** What this file stores; health and tenants have files of their own. */
type WebhookWrites = Omit<WebhookStore, 'renameTenant' | 'removeTenant' | 'findHealth' | 'listFailing'>

/** Stores webhooks in PostgreSQL; `schema` is quoted. */
export function createWebhookStore (session: Session, schema: string, stop: StopDeliveries, due: Due): WebhookWrites {
  const table = `${schema}.webhooks`

  function filterBy (tenantSlug: string, { status }: WebhookFilter): Conditions {
    return new Conditions(['tenant_slug = $', tenantSlug], ['status = $', status])
  }

  return {
    async list (tenantSlug, { filter, sort, offset, limit }) {
      const where = filterBy(tenantSlug, filter)
      const rows = await session.query<WebhookRow>('list webhooks', `
        select ${webhookColumns} from ${table} ${where}
        ${orderBy(sort, sortColumns)} limit ${where.bind(limit)} offset ${where.bind(offset)}`, where.values)
      return rows.map(parseWebhook)
    },

    async count (tenantSlug, filter) {
      const where = filterBy(tenantSlug, filter)
      const [row] = await session.query<{ total: string }>('count webhooks',
        `select count(*)::text as total from ${table} ${where}`, where.values)
      return Number(row?.total)
    },

    async find (tenantSlug, id) {
      const [row] = await session.query<WebhookRow>('find webhook',
        `select ${webhookColumns} from ${table} where tenant_slug = $1 and id = $2`, [tenantSlug, id])
      return row === undefined ? null : parseWebhook(row)
    },

    async nextId () {
      const [row] = await session.query<{ id: string }>('next webhook id',
        'select nextval($1::regclass)::text as id', [`${schema}.webhook_ids`])
      return Number(row?.id)
    },

    create (tenantSlug, webhook, maxPerTenant) {
      return session.transaction('create webhook', async (query) => {
        // Serializes creates of a tenant: otherwise two could pass the limit together.
        await query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`${table} ${tenantSlug}`])
        // Otherwise the first emits of a tenant would wait for one another to insert this row.
        await query(`insert into ${schema}.tenants (slug) values ($1) on conflict (slug) do nothing`, [tenantSlug])
        const [row] = await query<WebhookRow>(`
          insert into ${table} (tenant_slug, id, name, status, target_url, event_types, secret, created_at, updated_at)
          select $1, $2, $3, $4, $5, $6, $7, moment, moment from ${moment} as moment
          where (select count(*) from ${table} where tenant_slug = $1) < $8
          returning ${webhookColumns}`, [...newValues(tenantSlug, webhook), maxPerTenant])
        return row === undefined ? null : parseWebhook(row)
      })
    },

    async update (tenantSlug, id, changes) {
      const [row] = await session.query<WebhookRow>('update webhook', `
        update ${table} set
          name = coalesce($3, name),
          target_url = coalesce($4, target_url),
          event_types = coalesce($5, event_types),
          status = coalesce($6, status),
          revision = revision + (coalesce($4 <> target_url, false) or coalesce($6 = 'active', false))::integer,
          skip_before = case when $6 is null or (status = 'active' and $6 = 'active') then skip_before else nextval($7::regclass) end,
          updated_at = ${moment}
        where tenant_slug = $1 and id = $2
        returning ${webhookColumns}`, [...changedValues(tenantSlug, id, changes), `${schema}.delivery_ids`])
      if (row === undefined) return null

      if (changes.status !== undefined) await stop.sweep(id)
      if (changes.status === 'active' || changes.target_url !== undefined) due.notify()
      return parseWebhook(row)
    },

    async delete (tenantSlug, id) {
      const rows = await session.query('delete webhook',
        `delete from ${table} where tenant_slug = $1 and id = $2 returning id::text`, [tenantSlug, id])
      if (rows.length > 0) await stop.sweep(id)
      return rows.length > 0
    },

    async rotateSecret (tenantSlug, id, rotation) {
      const [row] = await session.query<WebhookRow & { previous_secret_expires_at: string | null }>('rotate secret', `
        update ${table} set
          secret = $3,
          previous_secret = case when $4 > 0 then secret end,
          previous_secret_expires_at = case when $4 > 0 then moment + $4 * interval '1 second' end,
          updated_at = moment
        from ${moment} as moment
        where tenant_slug = $1 and id = $2
        returning ${webhookColumns}, ${toIso('previous_secret_expires_at')} as previous_secret_expires_at`,
      rotationValues(tenantSlug, id, rotation))
      return row === undefined ? null : { ...parseWebhook(row), previous_secret_expires_at: row.previous_secret_expires_at }
    },

    async findSecrets (tenantSlug, id) {
      const [row] = await session.query<SecretRow>('find secrets',
        `select ${secretColumns} from ${table} where tenant_slug = $1 and id = $2`, [tenantSlug, id])
      return row === undefined ? null : parseSecrets(row)
    },

    async listSecrets ({ afterId, limit }) {
      const rows = await session.query<SecretRow & { id: string, tenant_slug: string }>('list secrets', `
        select tenant_slug, id::text, ${secretColumns} from ${table}
        where id > $1 order by id limit $2`, [afterId, limit])
      return rows.map((row) => ({ tenantSlug: row.tenant_slug, webhookId: Number(row.id), secrets: parseSecrets(row) }))
    },

    async replaceSecret (tenantSlug, id, { from, to }) {
      const rows = await session.query('replace secret', `
        update ${table} set
          secret = case when secret = $3 then $4 else secret end,
          previous_secret = case when previous_secret = $3 then $4 else previous_secret end
        where tenant_slug = $1 and id = $2 and (secret = $3 or previous_secret = $3)
        returning id::text`, [tenantSlug, id, from, to])
      return rows.length > 0
    }
  }
}

function newValues (tenantSlug: string, webhook: NewWebhook): unknown[] {
  const { id, name, status, target_url: targetUrl, event_types: eventTypes, secret } = webhook
  return [tenantSlug, id, name, status, targetUrl, [...eventTypes], secret]
}

function changedValues (tenantSlug: string, id: number, changes: WebhookChanges): unknown[] {
  const { name, target_url: targetUrl, event_types: eventTypes, status } = changes
  return [tenantSlug, id, name ?? null, targetUrl ?? null, eventTypes === undefined ? null : [...eventTypes], status ?? null]
}

function rotationValues (tenantSlug: string, id: number, { secret, gracePeriodSeconds }: SecretRotation): unknown[] {
  return [tenantSlug, id, secret, gracePeriodSeconds]
}

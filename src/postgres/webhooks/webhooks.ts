import type {
  NewWebhook,
  SecretRotation,
  StoredHeaders,
  WebhookChanges,
  WebhookFilter,
  WebhookSortField,
  WebhookStore
} from '../../ports/index.js'
import { tenantResting } from '../../shared/tenants.js'
import type { Due } from '../deliveries/due.js'
import type { Session } from '../session.js'
import { Conditions, moment, orderBy, toIso } from '../sql.js'
import type { StopDeliveries } from '../deliveries/queue.js'
import { filterColumns } from './filters.js'
import {
  parseSecrets,
  parseWebhook,
  secretColumns,
  type SecretRow,
  webhookColumns,
  type WebhookRow
} from './webhook-row.js'

const sortColumns: Record<WebhookSortField, string> = {
  id: 'id',
  name: 'name collate "C"',
  created_at: 'created_at',
  updated_at: 'updated_at'
}

/** The part of the port in this file; health and tenants are in other files. */
type WebhookWrites = Omit<
  WebhookStore, 'renameTenant' | 'removeTenant' | 'listResting' | 'listIdsLikeSlugs' | 'findHealth' | 'listFailing'
>

/** Stores webhooks in PostgreSQL; `schema` is quoted. */
export function createWebhookStore (session: Session, schema: string, stop: StopDeliveries, due: Due): WebhookWrites {
  const table = `${schema}.webhooks`

  function filterBy (tenant: string, { status }: WebhookFilter): Conditions {
    return new Conditions([(value) => `tenant = ${value}`, tenant], [(value) => `status = ${value}`, status])
  }

  return {
    async list (tenant, { filter, sort, offset, limit }) {
      const where = filterBy(tenant, filter)
      const rows = await session.query<WebhookRow>('list webhooks', `
        select ${webhookColumns} from ${table} ${where}
        ${orderBy(sort, sortColumns)} limit ${where.bind(limit)} offset ${where.bind(offset)}`, where.values)
      return rows.map(parseWebhook)
    },

    async count (tenant, filter) {
      const where = filterBy(tenant, filter)
      const [row] = await session.query<{ total: string }>('count webhooks',
        `select count(*)::text as total from ${table} ${where}`, where.values)
      return Number(row?.total)
    },

    async find (tenant, id) {
      const [row] = await session.query<WebhookRow>('find webhook',
        `select ${webhookColumns} from ${table} where tenant = $1 and id = $2`, [tenant, id])
      return row === undefined ? null : parseWebhook(row)
    },

    async nextId () {
      const [row] = await session.query<{ id: string }>('next webhook id',
        'select nextval($1::regclass)::text as id', [`${schema}.webhook_ids`])
      return Number(row?.id)
    },

    create (tenant, webhook, maxPerTenant) {
      return session.transaction('create webhook', async (query) => {
        // Serializes creates of a tenant: otherwise two could pass the limit together.
        await query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`${table} ${tenant}`])
        const [row] = await query<WebhookRow>(
          `
          insert into ${table} (tenant, id, tenant_slug, name, status, target_url, event_types, secret, headers,
            header_names, filters, filter_path, created_at, updated_at)
          select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, moment, moment from ${moment} as moment
          where (select count(*) from ${table} where tenant = $1) < $13 and ${schema}.find_rest_v1($1) is null
          returning ${webhookColumns}`,
          [...newValues(tenant, webhook), maxPerTenant]
        )
        if (row !== undefined) return parseWebhook(row)
        const [rest] = await query<{ until: string | null }>(`select ${schema}.find_rest_v1($1) as until`, [tenant])
        if (typeof rest?.until === 'string') throw tenantResting(tenant, rest.until)
        return null
      })
    },

    async update (tenant, id, changes) {
      const values = [
        ...changedValues(tenant, id, changes),
        `${schema}.delivery_ids`,
        ...changedHeaders(changes),
        ...changedFilters(changes)
      ]
      const [row] = await session.query<WebhookRow>('update webhook', `
        with updated as (
          update ${table} set
            name = coalesce($3, name),
            target_url = coalesce($4, target_url),
            event_types = coalesce($5, event_types),
            status = coalesce($6, status),
            revision = revision + (coalesce($4 <> target_url, false) or coalesce($6 = 'active', false))::integer,
            skip_before = case
              when $6 is null or (status = 'active' and $6 = 'active') then skip_before
              else nextval($7::regclass)
            end,
            headers = case when $8 then $9 else headers end,
            header_names = case when $8 then $10 else header_names end,
            filters = case when $11 then $12 else filters end,
            filter_path = case when $11 then $13 else filter_path end,
            updated_at = ${moment}
          where tenant = $1 and id = $2
          returning *
        )
        select ${webhookColumns} from updated cross join lateral ${schema}.apply_update_v1(id, $6 is not null)`, values)
      if (row === undefined) return null

      if (changes.status !== undefined) await stop.sweep(id)
      if (changes.status === 'active' || changes.target_url !== undefined) due.notify()
      return parseWebhook(row)
    },

    async delete (tenant, id) {
      const rows = await session.query('delete webhook', `
        with deleted as (
          delete from ${table} where tenant = $1 and id = $2 returning id
        ), listed as (
          insert into ${schema}.stopped_webhooks (webhook_id) select id from deleted on conflict do nothing
        )
        select id::text from deleted`, [tenant, id])
      if (rows.length > 0) await stop.sweep(id)
      return rows.length > 0
    },

    async rotateSecret (tenant, id, rotation) {
      const [row] = await session.query<WebhookRow & { previous_secret_expires_at: string | null }>('rotate secret', `
        update ${table} set
          secret = $3,
          previous_secret = case when $4 > 0 then secret end,
          previous_secret_expires_at = case when $4 > 0 then ${moment} + $4 * interval '1 second' end,
          updated_at = ${moment}
        where tenant = $1 and id = $2
        returning ${webhookColumns}, ${toIso('previous_secret_expires_at')} as previous_secret_expires_at`,
      rotationValues(tenant, id, rotation))
      return row === undefined
        ? null
        : { ...parseWebhook(row), previous_secret_expires_at: row.previous_secret_expires_at }
    },

    async findSecrets (tenant, id) {
      const [row] = await session.query<SecretRow>('find secrets',
        `select ${secretColumns} from ${table} where tenant = $1 and id = $2`, [tenant, id])
      return row === undefined ? null : parseSecrets(row)
    },

    async findHeaders (tenant, id) {
      const [row] = await session.query<{ headers: string | null }>('find headers',
        `select headers from ${table} where tenant = $1 and id = $2`, [tenant, id])
      return row?.headers ?? null
    },

    async findGraceEnd (tenant, id) {
      const [row] = await session.query<{ ends_at: string }>('find grace end', `
        select ${toIso('previous_secret_expires_at')} as ends_at from ${table}
        where tenant = $1 and id = $2 and previous_secret_expires_at > clock_timestamp()`, [tenant, id])
      return row?.ends_at ?? null
    },

    async listSecrets ({ afterId, limit }) {
      const rows = await session.query<SecretRow & { id: string; tenant: string; headers: string | null }>(
        'list secrets',
        `
        select tenant, id::text, headers, ${secretColumns} from ${table}
        where id > $1 order by id limit $2`,
        [afterId, limit]
      )
      return rows.map((row) => ({
        tenantId: row.tenant,
        webhookId: Number(row.id),
        secrets: parseSecrets(row),
        headers: row.headers
      }))
    },

    async replaceSecret (tenant, id, { from, to }) {
      const rows = await session.query('replace secret', `
        update ${table} set
          secret = case when secret = $3 then $4 else secret end,
          previous_secret = case when previous_secret = $3 then $4 else previous_secret end,
          headers = case when headers = $3 then $4 else headers end
        where tenant = $1 and id = $2 and (secret = $3 or previous_secret = $3 or headers = $3)
        returning id::text`, [tenant, id, from, to])
      return rows.length > 0
    }
  }
}

function newValues (tenant: string, webhook: NewWebhook): unknown[] {
  const {
    id,
    tenantSlug,
    name,
    status,
    target_url: targetUrl,
    event_types: eventTypes,
    secret,
    headers = null,
    filters = null
  } = webhook
  return [
    tenant,
    id,
    tenantSlug,
    name,
    status,
    targetUrl,
    [...eventTypes],
    secret,
    headers?.sealed ?? null,
    copyNames(headers),
    ...filterColumns(filters)
  ]
}

function changedValues (tenant: string, id: number, changes: WebhookChanges): unknown[] {
  const { name, target_url: targetUrl, event_types: eventTypes, status } = changes
  return [
    tenant,
    id,
    name ?? null,
    targetUrl ?? null,
    eventTypes === undefined ? null : [...eventTypes],
    status ?? null
  ]
}

/** Whether the headers change, and to what. */
function changedHeaders ({ headers }: WebhookChanges): unknown[] {
  return [headers !== undefined, headers?.sealed ?? null, copyNames(headers ?? null)]
}

/** Whether the filters change, and to what. */
function changedFilters ({ filters }: WebhookChanges): unknown[] {
  return [filters !== undefined, ...filterColumns(filters ?? null)]
}

function copyNames (headers: StoredHeaders | null): string[] | null {
  return headers && [...headers.names]
}

function rotationValues (tenant: string, id: number, { secret, gracePeriodSeconds }: SecretRotation): unknown[] {
  return [tenant, id, secret, gracePeriodSeconds]
}

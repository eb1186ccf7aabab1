import type { AttemptError, EventFilters, StoredHeaders, Webhook, WebhookHealth, WebhookStore } from 'fastify-recruiting-api'
import { type Kysely, type Selectable, sql } from 'kysely'
import { stopDeliveries } from './deliveries/stop.js'
import type { Context } from './storage.js'
import type { Schema } from './schema.js'
import { assertAwake, createTenants } from './tenants.js'

type WebhookRow = Selectable<Schema['webhooks']>

/** The record of failures of a webhook without any. */
export const noFailures = {
  failing_since: null, failed_deliveries: 0, last_error: null, last_response_status: null, is_warned: 0, paused_until: 0
}

/** Stores webhooks and their secrets. Every change is one transaction on the only connection, so there are no races. */
export function createWebhooks ({ db, now, notify }: Context): WebhookStore {
  const own = (tenant: string, id: number, on: Kysely<Schema> = db): Promise<WebhookRow | undefined> =>
    on.selectFrom('webhooks').selectAll().where('tenant', '=', tenant).where('id', '=', id).executeTakeFirst()

  return {
    ...createTenants({ db, now, notify }),

    async list (tenant, { filter: { status }, sort, offset, limit }) {
      const all = db.selectFrom('webhooks').selectAll().where('tenant', '=', tenant)
      const filtered = status === undefined ? all : all.where('status', '=', status)
      const ordered = sort.reduce((query, { field, direction }) => query.orderBy(field, direction), filtered)
      return (await ordered.limit(limit).offset(offset).execute()).map(show)
    },

    async count (tenant, { status }) {
      const all = db.selectFrom('webhooks').select(sql<number>`count(*)`.as('total')).where('tenant', '=', tenant)
      return (await (status === undefined ? all : all.where('status', '=', status)).executeTakeFirstOrThrow()).total
    },

    async find (tenant, id) {
      const row = await own(tenant, id)
      return row === undefined ? null : show(row)
    },

    async findHealth (tenant, id) {
      const row = await own(tenant, id)
      return row === undefined ? null : showHealth(row, now())
    },

    async listFailing ({ limit, maxPending }) {
      const rows = await db.selectFrom('webhooks').selectAll()
        .where(sql<boolean>`status = 'disabled' or (status = 'active' and failing_since is not null)`)
        .orderBy(sql`failing_since is null, failing_since, id`).limit(limit).execute()
      return Promise.all(rows.map(async (row) => {
        const { pending } = await db.selectFrom('deliveries').select(sql<number>`min(count(*), ${maxPending})`.as('pending'))
          .where('webhook_id', '=', row.id).where('status', '=', 'pending').executeTakeFirstOrThrow()
        const { tenant: tenantId, tenant_slug: tenantSlug, last_error: lastError, last_response_status: lastResponseStatus } = row
        return { tenantId, tenantSlug, webhook: show(row), health: showHealth(row, now()), lastError: lastError as AttemptError | null, lastResponseStatus, pending }
      }))
    },

    async nextId () {
      const { id } = await db.insertInto('webhook_ids').values({ unused: 0 }).returning('id').executeTakeFirstOrThrow()
      return id
    },

    create: (tenant, { tenantSlug, headers = null, filters = null, ...webhook }, maxPerTenant) => db.transaction().execute(async (trx) => {
      await assertAwake(trx, tenant, now())
      const { total } = await trx.selectFrom('webhooks').select(sql<number>`count(*)`.as('total'))
        .where('tenant', '=', tenant).executeTakeFirstOrThrow()
      if (total >= maxPerTenant) return null
      const time = now()
      const health = { ...noFailures, disabled_reason: null, last_turn: 0 }
      const row = await trx.insertInto('webhooks').values({
        ...webhook,
        event_types: JSON.stringify(webhook.event_types),
        ...headerColumns(headers),
        filters: formatFilters(filters),
        tenant,
        tenant_slug: tenantSlug,
        previous_secret: null,
        previous_secret_expires_at: 0,
        created_at: time,
        updated_at: time,
        ...health
      }).returningAll().executeTakeFirstOrThrow()
      return show(row)
    }),

    async update (tenant, id, { event_types: eventTypes, headers, filters, ...changes }) {
      const updated = await db.transaction().execute(async (trx) => {
        const types = eventTypes === undefined ? {} : { event_types: JSON.stringify(eventTypes) }
        const before = await own(tenant, id, trx)
        const isNewStart = changes.status === 'active' || (changes.target_url ?? before?.target_url) !== before?.target_url
        const health = isNewStart ? noFailures : {}
        const filterColumns = filters === undefined ? {} : { filters: formatFilters(filters) }
        const row = await trx.updateTable('webhooks')
          .set({ ...changes, ...types, ...headers === undefined ? {} : headerColumns(headers), ...filterColumns, ...health, updated_at: now() })
          .where('tenant', '=', tenant).where('id', '=', id).returningAll().executeTakeFirst()
        if (row !== undefined && changes.status === 'inactive') await stopDeliveries(trx, id, 'skipped')
        return row === undefined ? null : show(row)
      })
      if (changes.status === 'active' || changes.target_url !== undefined) notify()
      return updated
    },

    delete: (tenant, id) => db.transaction().execute(async (trx) => {
      const row = await trx.deleteFrom('webhooks').where('tenant', '=', tenant).where('id', '=', id).returning('id').executeTakeFirst()
      if (row !== undefined) await stopDeliveries(trx, id, 'cancelled')
      return row !== undefined
    }),

    rotateSecret: (tenant, id, { secret, gracePeriodSeconds }) => db.transaction().execute(async (trx) => {
      const before = await own(tenant, id, trx)
      if (before === undefined) return null
      const time = now()
      const expiresAt = time + gracePeriodSeconds * 1000
      const row = await trx.updateTable('webhooks').set({
        secret,
        previous_secret: gracePeriodSeconds === 0 ? null : before.secret,
        previous_secret_expires_at: expiresAt,
        updated_at: time
      }).where('id', '=', id).returningAll().executeTakeFirstOrThrow()
      return { ...show(row), previous_secret_expires_at: gracePeriodSeconds === 0 ? null : toIso(expiresAt) }
    }),

    async findSecrets (tenant, id) {
      const row = await own(tenant, id)
      return row === undefined ? null : validSecrets(row, now())
    },

    async findHeaders (tenant, id) {
      return (await own(tenant, id))?.headers ?? null
    },

    async findGraceEnd (tenantSlug, id) {
      const row = await own(tenantSlug, id)
      const [, previous] = row === undefined ? [] : validSecrets(row, now())
      return row === undefined || previous === undefined ? null : toIso(row.previous_secret_expires_at)
    },

    async listSecrets ({ afterId, limit }) {
      const rows = await db.selectFrom('webhooks').selectAll().where('id', '>', afterId).orderBy('id').limit(limit).execute()
      return rows.map((row) => ({ tenantId: row.tenant, webhookId: row.id, secrets: validSecrets(row, now()), headers: row.headers }))
    },

    replaceSecret: (tenant, id, { from, to }) => db.transaction().execute(async (trx) => {
      const row = await own(tenant, id, trx)
      if (row === undefined || ![row.secret, row.previous_secret, row.headers].includes(from)) return false
      await trx.updateTable('webhooks').set({
        secret: row.secret === from ? to : row.secret,
        previous_secret: row.previous_secret === from ? to : row.previous_secret,
        headers: row.headers === from ? to : row.headers
      }).where('id', '=', id).execute()
      return true
    })
  }
}

function headerColumns (headers: StoredHeaders | null) {
  return { headers: headers?.sealed ?? null, header_names: headers && JSON.stringify(headers.names) }
}

function formatFilters (filters: EventFilters | null): string | null {
  return filters && JSON.stringify(filters)
}

/** Reads the filters of a row. */
export function parseFilters (filters: string | null): EventFilters | null {
  return filters === null ? null : JSON.parse(filters)
}

/** Returns the valid secrets, newest first. */
export function validSecrets (row: Pick<WebhookRow, 'secret' | 'previous_secret' | 'previous_secret_expires_at'>, time: number): string[] {
  return row.previous_secret !== null && time < row.previous_secret_expires_at ? [row.secret, row.previous_secret] : [row.secret]
}

/** Formats a date as the ports expect it. */
export function toIso (time: number): string {
  return new Date(time).toISOString()
}

function showHealth (row: WebhookRow, time: number): WebhookHealth {
  return {
    failing_since: row.failing_since === null ? null : toIso(row.failing_since),
    failed_deliveries: row.failed_deliveries,
    paused_until: row.status === 'active' && row.paused_until > time ? toIso(row.paused_until) : null,
    disabled_reason: row.status === 'disabled' ? row.disabled_reason : null
  }
}

function show (row: WebhookRow): Webhook {
  return {
    id: row.id,
    name: row.name,
    status: row.status,
    target_url: row.target_url,
    event_types: JSON.parse(row.event_types),
    headers: row.header_names === null ? null : Object.fromEntries(JSON.parse(row.header_names).map((name: string) => [name, null])),
    filters: parseFilters(row.filters),
    created_at: toIso(row.created_at),
    updated_at: toIso(row.updated_at)
  }
}

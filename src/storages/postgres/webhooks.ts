import type {
  EventFilters, FailingWebhook, FilterValue, NewWebhook, RotatedWebhook, Webhook, WebhookChanges, WebhookFilter,
  WebhookHealth, WebhookSortField, WebhookStore
} from '../../core/ports/index.js'
import { tenantResting } from '../../core/shared/tenants.js'
import type { Due } from './deliveries/due.js'
import type { StopDeliveries } from './deliveries/queue.js'
import { createListSource } from './list-source.js'
import { storeAnswer } from './requests.js'
import { readJson, readValue, type Session } from './session.js'
import { Conditions, creatorJson, moment, toIso } from './sql.js'
import type { TenantMethod } from './tenants.js'
import { type Call, callIn, runInTransaction } from './transactions.js'
import { createTurns } from './turns.js'

const webhookJson = `json_build_object(
  'id', w.id, 'name', w.name, 'status', w.status, 'target_url', w.target_url, 'event_types', w.event_types,
  'headers', (select json_object_agg(header.name, null) from unnest(w.header_names) as header (name)),
  'filters', w.filters, 'changed', w.changed, 'contact', w.contact, 'created_by', ${creatorJson('w')},
  'created_at', ${toIso('w.created_at')}, 'updated_at', ${toIso('w.updated_at')}
)`

/** The health of `webhooks w`. `h` is its row of `webhook_health`, if any. */
const healthJson = `json_build_object(
  'failing_since', ${toIso('h.failing_since')}, 'failed_deliveries', coalesce(h.failed_deliveries, 0),
  'paused_until', case when w.status = 'active' and h.paused_until > clock_timestamp()
    then ${toIso('h.paused_until')} end,
  'disabled_reason', case w.status when 'disabled' then w.disabled_reason end
)`

/** The condition that `$2` is a webhook of the tenant `$1`. Subscriptions are no webhooks. */
const isOwn = (alias: string): string =>
  `${alias}.tenant = $1 and ${alias}.id = $2 and ${alias}.subscription_id is null`

/** The valid secrets of `webhooks w`, newest first. */
export const secretsJson = `array_to_json(array_remove(
  array[w.secret, case when w.previous_secret_expires_at > clock_timestamp() then w.previous_secret end], null
))`

const sortColumns: Record<WebhookSortField, string> = {
  id: 'w.id',
  name: 'w.name collate "C"',
  created_at: 'w.created_at',
  updated_at: 'w.updated_at'
}

/** Stores webhooks in PostgreSQL; `schema` is quoted. */
export function createWebhookStore (
  session: Session, schema: string, stop: StopDeliveries, due: Due
): Omit<WebhookStore, TenantMethod> {
  const table = `${schema}.webhooks`
  const takeTurn = createTurns('webhooks')

  function filterBy (tenant: string, { status }: WebhookFilter): Conditions {
    return new Conditions(
      [(value) => `w.tenant = ${value} and w.subscription_id is null`, tenant],
      [(value) => `w.status = ${value}`, status]
    )
  }

  return {
    ...createHealth(session, schema),

    ...createListSource(session, 'webhooks', { tables: `${table} w`, json: webhookJson, sortColumns, filterBy }),

    async find (tenant, id) {
      const [webhook] = await readJson<Webhook>(session, 'find webhook',
        `select ${webhookJson}::text as json from ${table} w where ${isOwn('w')}`, [tenant, id])
      return webhook ?? null
    },

    async nextId (_tenant, transaction) {
      const text = 'nextval($1::regclass)'
      const values = [`${schema}.webhook_ids`]
      if (transaction !== undefined) {
        return Number(await runInTransaction(session, 'next webhook id', transaction, (call) => call(text, values)))
      }
      return Number(await readValue(session, 'next webhook id', text, values))
    },

    create (tenant, webhook, { maxPerTenant, maxPerCreator = null, answer, transaction }) {
      const values = [
        JSON.stringify(formatWebhook(tenant, webhook)), String(maxPerTenant), String(maxPerCreator ?? '')
      ]
      async function store (call: Call): Promise<Webhook | null | 'busy'> {
        const result = await call(`${schema}.create_webhook_v1($1, $2, $3)`, values)
        if (result === 'busy') return result
        if (result === 'full') return null
        if (result !== 'none') throw tenantResting(tenant, result)
        const text = `(select ${webhookJson}::text from ${table} w where w.tenant = $1 and w.id = $2)`
        return JSON.parse(await call(text, [tenant, webhook.id]))
      }
      return takeTurn(tenant, () => transaction !== undefined
        ? runInTransaction(session, 'create webhook', transaction, store)
        : session.transaction('create webhook', async (query) => {
          const created = await store(callIn(query))
          if (created !== null && created !== 'busy') await storeAnswer(query, schema, tenant, answer, created)
          return created
        }))
    },

    async update (tenant, id, changes) {
      const { status, target_url: targetUrl } = changes
      const [webhook] = await readJson<Webhook>(session, 'update webhook', `
        with w as (
          update ${table} w set
            (${changeable}) = (select ${changeable} from json_populate_record(w, $3::json)),
            revision = w.revision + (coalesce($4 <> w.target_url, false) or coalesce($5 = 'active', false))::integer,
            skip_before = case
              when $5 is null or (w.status = 'active' and $5 = 'active') then w.skip_before
              else nextval($6::regclass)
            end,
            updated_at = ${moment}
          where ${isOwn('w')}
          returning *
        )
        select ${webhookJson}::text as json
        from w cross join lateral ${schema}.apply_update_v1(w.id, $5 is not null)`, [
        tenant, id, JSON.stringify(formatFields(changes)), targetUrl ?? null, status ?? null, `${schema}.delivery_ids`
      ])
      if (webhook === undefined) return null

      if (status !== undefined) await stop.sweep(id)
      if (status === 'active' || targetUrl !== undefined) due.notify()
      return webhook
    },

    async delete (tenant, id) {
      const rows = await session.query('delete webhook', `
        with deleted as (
          delete from ${table} where ${isOwn(table)} returning id
        ), listed as (
          insert into ${schema}.stopped_webhooks (webhook_id) select id from deleted on conflict do nothing
        )
        select id::text from deleted`, [tenant, id])
      if (rows.length > 0) await stop.sweep(id)
      return rows.length > 0
    },

    rotateSecret (tenant, id, { secret, gracePeriodSeconds }, answer) {
      return session.transaction('rotate secret', async (query) => {
        const [row] = await query<{ json: string, ends_at: string | null }>(`
          update ${table} as w set
            secret = $3,
            previous_secret = case when $4 > 0 then w.secret end,
            previous_secret_expires_at = case when $4 > 0 then ${moment} + $4 * interval '1 second' end,
            updated_at = ${moment}
          where ${isOwn('w')}
          returning ${webhookJson}::text as json, ${toIso('w.previous_secret_expires_at')} as ends_at`,
        [tenant, id, secret, gracePeriodSeconds])
        if (row === undefined) return null
        const rotated: RotatedWebhook = { ...JSON.parse(row.json), previous_secret_expires_at: row.ends_at }
        await storeAnswer(query, schema, tenant, answer, rotated)
        return rotated
      })
    },

    async findSecrets (tenant, id) {
      const [secrets] = await readJson<string[]>(session, 'find secrets',
        `select ${secretsJson}::text as json from ${table} w where ${isOwn('w')}`, [tenant, id])
      return secrets ?? null
    },

    findHeaders: (tenant, id) =>
      readValue(session, 'find headers', `select headers from ${table} where ${isOwn(table)}`, [tenant, id]),

    findGraceEnd: (tenant, id) => readValue(session, 'find grace end', `
      select ${toIso('previous_secret_expires_at')} from ${table}
      where ${isOwn(table)} and previous_secret_expires_at > clock_timestamp()`, [tenant, id]),

    listSecrets: ({ afterId, limit }) => readJson(session, 'list secrets', `
      select json_build_object(
        'tenantId', w.tenant, 'webhookId', w.id, 'secrets', ${secretsJson}, 'headers', w.headers
      )::text as json
      from ${table} w where w.id > $1 order by w.id limit $2`, [afterId, limit]),

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

/** The columns that an update can set. */
const changeable = 'name, status, target_url, event_types, headers, header_names, filters, filter_path, changed, contact'

/** Returns the columns of these fields. Absent fields stay `undefined`. */
function formatFields ({ headers, filters, ...fields }: WebhookChanges): object {
  return {
    ...fields,
    headers: headers && headers.sealed,
    header_names: headers && headers.names,
    filters,
    filter_path: filters && formatFilterPath(filters)
  }
}

function formatWebhook (tenant: string, webhook: NewWebhook): object {
  const { tenantSlug, created_by: creator = { type: 'code', id: null }, ...fields } = webhook
  return {
    ...formatFields(fields), tenant, tenant_slug: tenantSlug, creator_type: creator.type, creator_id: creator.id
  }
}

function createHealth (session: Session, schema: string): Pick<WebhookStore, 'findHealth' | 'listFailing'> {
  const tables = `${schema}.webhooks w left join ${schema}.webhook_health h on h.webhook_id = w.id
    and h.revision = w.revision`
  const waiting = (condition: string): string => `
    select from ${schema}.queue q where q.webhook_id = w.id and q.id >= w.skip_before and ${condition} limit $2`

  return {
    async findHealth (tenant, id) {
      const [health] = await readJson<WebhookHealth>(session, 'find health', `
        select ${healthJson}::text as json from ${tables} where ${isOwn('w')}`, [tenant, id])
      return health ?? null
    },

    listFailing: ({ limit, maxPending }) => readJson<FailingWebhook>(session, 'list failing webhooks', `
      select json_build_object(
        'tenantId', w.tenant, 'tenantSlug', w.tenant_slug, 'webhook', ${webhookJson}, 'health', ${healthJson},
        'lastError', h.last_error, 'lastDetail', h.last_detail, 'lastResponseStatus', h.last_response_status,
        'pending', (select count(*) from (
          (${waiting('q.lane is not null')}) union all (${waiting('q.lane is null')}) limit $2
        ) as counted)
      )::text as json
      from ${tables}
      where w.id = any (array(
        select w.id from ${tables}
        where w.id = any (array(
          select webhook_id from ${schema}.webhook_health
          union select id from ${schema}.webhooks where status = 'disabled'
        )) and w.subscription_id is null
          and (w.status = 'disabled' or (w.status = 'active' and h.webhook_id is not null))
        order by h.failing_since nulls last, w.id
        limit $1
      ))
      order by h.failing_since nulls last, w.id`, [limit, maxPending])
  }
}

export function formatFilters (
  filters: EventFilters | null = null
): [filters: string | null, filterPath: string | null] {
  return filters === null ? [null, null] : [JSON.stringify(filters), formatFilterPath(filters)]
}

/**
 * Formats filters as a jsonpath predicate, which PostgreSQL evaluates far faster than a function. In strict mode, names
 * do not match inside arrays, and a path that matches nothing is unknown.
 */
export function formatFilterPath (filters: EventFilters): string {
  return `strict ${Object.entries(filters).map(formatPath).join(' && ')}`
}

function formatPath ([path, values]: [string, FilterValue[]]): string {
  // jsonpath has the same escapes as JSON.
  const place = `$${path.split('.').map((name) => `.${JSON.stringify(name)}`).join('')}`
  const equal = `exists(${place} ? (${values.map((value) => `@ == ${JSON.stringify(value)}`).join(' || ')}))`
  return values.includes(null) ? `(${equal} || (exists(${place})) is unknown)` : equal
}

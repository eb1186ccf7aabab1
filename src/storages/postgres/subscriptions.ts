import type {
  Filled, NewSubscription, StoredSubscription, SubscriptionFilter, SubscriptionSortField,
  SubscriptionStats, SubscriptionStore
} from '../../core/ports/index.js'
import { tenantResting } from '../../core/shared/tenants.js'
import { parsePosition } from './changes/position.js'
import type { Due } from './deliveries/due.js'
import type { StopDeliveries } from './deliveries/queue.js'
import { createListSource } from './list-source.js'
import { readJson, type Session } from './session.js'
import { Conditions, moment, toIso } from './sql.js'
import { createTurns } from './turns.js'
import { formatFilters, secretsJson } from './webhooks.js'

const sortColumns: Record<SubscriptionSortField, string> = {
  id: 'w.subscription_id',
  created_at: 'w.created_at',
  expires_at: 'w.expires_at'
}

/** Stores agents' subscriptions in the table of webhooks; `schema` is quoted. */
export function createSubscriptionStore (
  session: Session, schema: string, stop: StopDeliveries, due: Due
): SubscriptionStore {
  const table = `${schema}.webhooks`
  const takeTurn = createTurns('subscriptions')
  const isLive = `w.subscription_id is not null and ${schema}.is_live_v1(w.expires_at, w.key_id)`
  const ofHealth = `left join ${schema}.webhook_health h on h.webhook_id = w.id and h.revision = w.revision`
  const subscriptionJson = `json_build_object(
    'id', w.subscription_id, 'webhook_id', w.id, 'principal', w.creator_id, 'event_type', w.event_types[1],
    'filters', w.filters, 'target_url', w.target_url, 'created_at', ${toIso('w.created_at')},
    'expires_at', ${toIso('w.expires_at')}, 'last_delivered_at', (
      select ${toIso('max(d.ended_at)')} from ${schema}.deliveries d
      where d.webhook_id = w.id and d.status = 'delivered'
    ), 'failing_since', ${toIso('h.failing_since')}, 'last_error', h.last_error,
    'last_response_status', h.last_response_status,
    'paused_until', case when h.paused_until > clock_timestamp() then ${toIso('h.paused_until')} end
  )`
  const storedJson = `json_build_object(
    'tenantId', w.tenant, 'tenantSlug', w.tenant_slug, 'subscription', ${subscriptionJson}, 'secrets', ${secretsJson},
    'position', ${schema}.watermark_v1(w.id)
  )`

  function filterBy (tenant: string, { principal }: SubscriptionFilter): Conditions {
    return new Conditions(
      [(value) => `w.tenant = ${value} and ${isLive}`, tenant], [(value) => `w.creator_id = ${value}`, principal]
    )
  }

  /** Ends the subscriptions that a condition selects. */
  async function end (condition: string, values: unknown[]): Promise<Filled['ended']> {
    const ended = await readJson<Filled['ended'][number]>(session, 'end subscriptions', `
      with ended as (
        delete from ${table} w where ${condition} returning w.*
      ), listed as (
        insert into ${schema}.stopped_webhooks (webhook_id) select id from ended on conflict do nothing
      )
      select (${storedJson}::jsonb || jsonb_build_object(
        'reason', case
          when w.expires_at <= clock_timestamp() then 'expired' when ${isLive} then 'removed' else 'revoked'
        end
      ))::text as json
      from ended w ${ofHealth}`, values)
    for (const { subscription } of ended) await stop.sweep(subscription.webhook_id)
    return ended
  }

  const refreshText = `
    with found as materialized (
      select w.id, coalesce(h.paused_until > clock_timestamp(), false) as is_paused
      from ${table} w ${ofHealth} where w.tenant = $1 and w.id = $2 for no key update of w
    ), w as (
      update ${table} w set
        tenant_slug = $3,
        expires_at = ${moment} + $4 * interval '1 second',
        previous_secret = case when $5 = w.secret then w.previous_secret when $6 > 0 then w.secret end,
        previous_secret_expires_at = case when $5 = w.secret then w.previous_secret_expires_at
          else ${moment} + $6 * interval '1 second' end,
        secret = $5,
        verified_at = case when $7 then ${moment} else w.verified_at end,
        revision = w.revision + found.is_paused::integer
      from found where w.id = found.id
      returning w.*
    ), hastened as (
      update ${schema}.queue q set lane = case when q.is_replay then 3 else 2 end, due_at = least(q.due_at, moment)
      from ${moment} as moment
      where q.ctid = any (array(
        select q.ctid from ${schema}.queue q
        where q.webhook_id = $2 and q.lane is null and q.paused_lane is null
        for update skip locked
      ))
    )
    select from w cross join lateral ${schema}.apply_update_v1(w.id, false)`

  const createText = `
    insert into ${table} (tenant, id, tenant_slug, name, status, target_url, event_types, secret, filters, filter_path,
      creator_type, creator_id, subscription_id, key_id, expires_at, verified_at, position, is_suspended,
      created_at, updated_at, filled_at)
    select $1, $2, $3, $4, 'active', $5, array[$6], $7, $8, $9, 'agent', $4, $10,
      (select k.id from ${schema}.api_keys k where k.tenant = $1 and k.id = $4),
      moment + $11 * interval '1 second', case when $12 then moment end, $13,
      exists (select from ${schema}.tenants where tenant = $1 and suspended_at is not null), moment, moment, moment
    from ${moment} as moment
    where ${schema}.find_rest_v1($1) is null
    on conflict (id) do nothing
    returning id::text`

  function createValues (tenant: string, given: NewSubscription): unknown[] {
    const { webhookId, tenantSlug, principal, targetUrl, eventType, secret, filters } = given
    return [
      tenant, webhookId, tenantSlug, principal, targetUrl, eventType, secret, ...formatFilters(filters), given.id,
      given.ttlSeconds, given.isVerified, parsePosition(given.position ?? '')?.seq
    ]
  }

  async function find (tenant: string, id: string): Promise<StoredSubscription | null> {
    const [found] = await readJson<StoredSubscription>(session, 'find subscription', `
      select ${storedJson}::text as json from ${table} w ${ofHealth}
      where w.tenant = $1 and w.subscription_id = $2 and ${isLive}`, [tenant, id])
    return found ?? null
  }

  return {
    ...createListSource(session, 'subscriptions', {
      tables: `${table} w ${ofHealth}`, json: subscriptionJson, sortColumns, filterBy
    }),

    find,

    async put (tenant, given, { perTenant, perPrincipal }) {
      const { id, webhookId, principal, tenantSlug, ttlSeconds, secret, gracePeriodSeconds } = given
      const result = await takeTurn(tenant, () => session.transaction('put subscription', async (query) => {
        // Serializes a tenant's calls: two at once could exceed a limit.
        const [lock] = await query<{ is_locked: boolean }>(
          'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as is_locked',
          [`${table} subscriptions ${tenant}`])
        if (lock?.is_locked !== true) return 'busy'
        const [row] = await query<{ json: string }>(`
          select json_build_object(
            'all', count(*), 'own', count(*) filter (where w.creator_id = $2),
            'live', max(w.id) filter (where w.subscription_id = $3),
            'secret', max(w.secret) filter (where w.subscription_id = $3), 'rest', ${schema}.find_rest_v1($1)
          )::text as json
          from ${table} w where w.tenant = $1 and ${isLive}`, [tenant, principal, id])
        const found = JSON.parse(String(row?.json)) as {
          all: number, own: number, live: number | null, secret: string, rest: string | null
        }
        if (found.rest !== null) throw tenantResting(tenant, found.rest)
        if (found.live !== null) {
          if (found.live !== webhookId) return 'replaced'
          const refreshed = await query(refreshText,
            [tenant, webhookId, tenantSlug, ttlSeconds, secret ?? found.secret, gracePeriodSeconds, given.isVerified])
          return refreshed.length === 0 ? 'replaced' : null
        }
        if (secret === null || given.position === null) return 'replaced'
        if (found.all >= perTenant) return 'perTenant'
        if (found.own >= perPrincipal) return 'perPrincipal'
        return (await query(createText, createValues(tenant, given))).length === 0 ? 'replaced' : null
      }))
      if (result !== null) return result
      due.notify()
      return await find(tenant, id) ?? 'replaced'
    },

    async isVerified (tenant, principal, url, withinSeconds) {
      const rows = await session.query('find confirmed address', `
        select from ${table} w
        where w.tenant = $1 and w.creator_id = $2 and w.target_url = $3
          and w.verified_at > clock_timestamp() - $4 * interval '1 second' and ${isLive}
        limit 1`, [tenant, principal, url, withinSeconds])
      return rows.length > 0
    },

    async end (tenant, which, _reason) {
      const [column, value] = 'id' in which ? ['subscription_id', which.id] : ['creator_id', which.principal]
      const ended = await end(`w.tenant = $1 and w.${column} = $2 and ${isLive}`, [tenant, value])
      return ended.map(({ reason, ...stored }) => stored)
    },

    async fill ({ limit, window, environment = null, eventTypes = null }) {
      // Every process polls, and most databases have no subscription. The order selects the index that contains them.
      const some = await session.prepared('look for subscriptions', `
        select from ${table} where subscription_id is not null order by expires_at limit 1`, [])
      if (some.length === 0) return { queued: 0, hasMore: false, gaps: [], ended: [] }
      const isHeld = `exists (select from ${schema}.find_hold_v1($1))`
      const ended = await end(`w.id = any (array(
        select w.id from ${table} w
        where w.subscription_id is not null and not w.is_suspended and not ${isHeld}
          and not (${isLive} and coalesce(w.event_types[1] = any ($2::text[]), true))
        for update skip locked
      ))`, [environment, eventTypes])
      const [filled] = await readJson<Omit<Filled, 'ended'>>(session, 'fill queues', `
        select json_build_object('queued', f.queued, 'hasMore', f.has_more, 'gaps', array(
          select ${storedJson} from ${table} w ${ofHealth} where w.id = any (f.gaps)
        ))::text as json
        from ${schema}.fill_v1($1, $2, $3) as f`, [limit, window, environment])
      if (filled === undefined) throw new Error('fill returned nothing')
      if (filled.queued > 0) due.notify()
      return { ...filled, ended }
    },

    async stats () {
      const [stats] = await readJson<SubscriptionStats>(session, 'read figures of subscriptions', `
        select json_build_object(
          'live', count(*), 'failing', count(*) filter (where h.failing_since is not null),
          'lagMs', coalesce((
            select floor(1000 * extract(epoch from clock_timestamp() - min(first.recorded_at)))
            from ${schema}.open_subscriptions_v1((select max(e.seq) from ${schema}.events e), 1) as open
            join ${table} w on w.id = open.id and ${isLive}
            left join ${schema}.tenants t on t.tenant = w.tenant
            cross join lateral (
              select e.recorded_at from ${schema}.events e
              where e.tenant_key = coalesce(t.key, w.tenant) and e.seq > w.position and e.seq <= open.unread
              order by e.seq limit 1
            ) as first
          ), 0)
        )::text as json
        from ${table} w ${ofHealth} where ${isLive}`)
      return stats ?? { live: 0, failing: 0, lagMs: 0 }
    }
  }
}

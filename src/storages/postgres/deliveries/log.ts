import type {
  Delivery, DeliveryFilter, DeliveryStatus, DeliveryStore, SubjectEvent
} from '../../../core/ports/index.js'
import { readJson, readValue, type Session } from '../session.js'
import { Conditions, equals, toIso } from '../sql.js'

/** Pages from this offset on read so many deliveries that they may take longer. */
const deepOffset = 10_000

/** The JSON members of a delivery `d` of an event `e`. A finished delivery's last attempt is in its columns. */
const deliveryMembers = `
  'id', d.id, 'event_id', e.id, 'event_type', e.type, 'status', d.status,
  'attempt_count', coalesce(jsonb_array_length(d.earlier), 0) + (d.duration_ms is not null)::integer,
  'response_status', case when d.duration_ms is null then d.earlier -> -1 -> 'response_status'
    else to_jsonb(d.response_status) end,
  'error', case when d.duration_ms is null then d.earlier -> -1 -> 'error' else to_jsonb(d.error) end,
  'detail', case when d.duration_ms is null then d.earlier -> -1 -> 'detail' else to_jsonb(d.detail) end,
  'next_attempt_at', ${toIso('d.due_at')}, 'created_at', ${toIso('d.created_at')},
  'delivered_at', case d.status when 'delivered' then ${toIso('d.ended_at')} end`

/** Selects a delivery `d`'s attempts as a JSON array; `json` is the expression of each stored `a.attempt`. */
function selectAttempts (json: string): string {
  return `(
    select coalesce(json_agg(${json} order by a.nth), '[]')
    from jsonb_array_elements(
      coalesce(d.earlier, '[]') || case when d.duration_ms is null then '[]' else jsonb_build_array(jsonb_build_object(
        'started_at', ${toIso("(d.ended_at - d.duration_ms * interval '1 millisecond')")},
        'duration_ms', d.duration_ms, 'response_status', d.response_status, 'error', d.error,
        'detail', d.detail, 'response_excerpt', d.response_excerpt
      )) end
    ) with ordinality as a (attempt, nth)
  )`
}

// An attempt without an excerpt lacks the key.
const attempts = selectAttempts('\'{"response_excerpt":null}\' || a.attempt')
const subjectAttempts = selectAttempts(`json_build_object('startedAt', a.attempt -> 'started_at',
  'responseStatus', a.attempt -> 'response_status', 'error', a.attempt -> 'error')`)

const lanes = ['lane = 0', 'lane = 1', 'lane = 2', 'lane = 3', 'lane is null']
const endedStatuses = ['delivered', 'failed', 'skipped', 'cancelled'] as const

/** A part of the log that one index contains exactly, in this order. */
interface Part {
  table: 'queue' | 'deliveries'
  condition: string
  order: string[]
}

/** Splits the log into parts, so that pages and totals read only the rows that they return. */
function splitLog (where: Conditions, { status, eventType }: DeliveryFilter): Part[] {
  const type = eventType === undefined ? null : where.bind(eventType)
  const isOfType = type === null ? null : isEqual('event_type', type)
  const pending: Part[] = isOfType === null
    ? lanes.map((lane) => ({ table: 'queue', condition: lane, order: ['id'] }))
    : [
        // Few deliveries are in flight.
        { table: 'queue', condition: `lane = 0 and event_type = ${type}`, order: ['id'] },
        { table: 'queue', condition: `lane is distinct from 0 and ${isOfType}`, order: ['event_type', 'id'] }
      ]
  if (status === 'pending') return pending
  return [...status === undefined ? pending : [], ...splitEnded(where, isOfType, status)]
}

function splitEnded (where: Conditions, isOfType: string | null, status: DeliveryStatus | undefined): Part[] {
  const table = 'deliveries'
  if (isOfType !== null) {
    const statuses = status === undefined ? endedStatuses : [status]
    const order = ['event_type', 'id']
    return statuses.map((one) => ({ table, condition: `status = ${where.bind(one)} and ${isOfType}`, order }))
  }
  if (status === undefined) return [{ table, condition: 'true', order: ['id'] }]
  return [{ table, condition: isEqual('status', where.bind(status)), order: ['status', 'id'] }]
}

/**
 * Compares by a range, so that sorting by this column and the id differs from sorting by id alone. In id order, the
 * planner would read the whole log if it expects many matches.
 */
function isEqual (column: string, value: string): string {
  return `${column} >= ${value} and ${column} <= ${value}`
}

const partColumns = {
  queue: `id, event_seq, 'pending' as status, created_at, due_at, null::timestamptz as ended_at, attempts as earlier,
    null::integer as duration_ms, null::integer as response_status, null as error, null as detail,
    null as response_excerpt`,
  deliveries: `id, event_seq, status, created_at, null::timestamptz as due_at, ended_at, earlier,
    duration_ms, response_status, error, detail, response_excerpt`
}

function ofWebhook (schema: string, tenant: string, webhookId: number): Conditions {
  return new Conditions(
    [(value) => `webhook_id = ${value}::bigint`, webhookId],
    [(value) => `exists (select from ${schema}.webhooks w where w.tenant = ${value} and w.id = $1::bigint)`, tenant]
  )
}

export async function findDelivery (
  session: Pick<Session, 'query'>, schema: string,
  ...[tenant, webhookId, id, { omitBody = false } = {}]: Parameters<DeliveryStore['find']>
): ReturnType<DeliveryStore['find']> {
  const where = ofWebhook(schema, tenant, webhookId)
  where.add((value) => `id = ${value}::bigint`, id)
  const parts = splitLog(where, {}).map(({ table, condition }) =>
    `select ${partColumns[table]} from ${schema}.${table} ${where} and ${condition}`)
  const [row] = await session.query<{ json: string, body: string }>('find delivery', `
    select json_build_object(${deliveryMembers}, 'attempts', ${attempts})::text as json,
      ${omitBody ? "''" : 'e.body'} as body
    from (${parts.join(' union all ')}) as d
    join ${schema}.events e on e.seq = d.event_seq`, where.values)
  return row === undefined ? null : { ...JSON.parse(row.json), body: row.body }
}

/** Reads deliveries from the log and the queue; `patient` has a longer timeout, `schema` is quoted. */
export function createDeliveryLog (
  { session, patient }: { session: Session, patient: Session }, schema: string
): Pick<DeliveryStore, 'list' | 'count' | 'find' | 'listSubjectEvents'> {
  function splitByFilter (
    tenant: string, webhookId: number, filter: DeliveryFilter
  ): { parts: Part[], where: Conditions } {
    const where = ofWebhook(schema, tenant, webhookId)
    where.add((value) => `event_seq = (select seq from ${schema}.events where id = ${value})`, filter.eventId)
    return { parts: splitLog(where, filter), where }
  }

  const named = (table: string, seq: string): string => `
    select ${seq} as seq from ${schema}.${table}
    where tenant_key ${equals(`coalesce((select t.key from ${schema}.tenants t where t.tenant = $1), $1)`)}
      and subject = $2 and ${seq} > $3::bigint
    order by tenant_key, ${seq} limit $4::bigint`
  const subjectText = `
    select json_build_object(
      'position', e.seq, 'eventId', e.id, 'eventType', e.type, 'recordedAt', ${toIso('e.recorded_at')},
      'isErased', e.body = coalesce(e.tombstone, ''), 'deliveries', (
        select coalesce(json_agg(json_build_object(
          'deliveryId', d.id, 'webhookId', d.webhook_id, 'webhookName', w.name, 'targetUrl', w.target_url,
          'status', d.status, 'deliveredAt', case d.status when 'delivered' then ${toIso('d.ended_at')} end,
          'attempts', ${subjectAttempts}
        ) order by d.id), '[]')
        from (
          select webhook_id, ${partColumns.queue} from ${schema}.queue where event_seq = e.seq
          union all
          select webhook_id, ${partColumns.deliveries} from ${schema}.deliveries where event_seq = e.seq
        ) as d
        left join ${schema}.webhooks w on w.id = d.webhook_id
      )
    )::text as json
    from (
      (${named('events', 'seq')}) union (${named('event_subjects', 'event_seq')}) order by seq limit $4::bigint
    ) as found
    join ${schema}.events e on e.seq = found.seq
    order by e.seq`

  return {
    async list (tenant, webhookId, { filter, sort: [first], offset, limit }) {
      const { parts, where } = splitByFilter(tenant, webhookId, filter)
      // Ids ascend in order of creation.
      const direction = first?.direction === 'desc' ? 'desc' : 'asc'
      const [most, passed] = [where.bind(limit), where.bind(offset)]
      const pages = parts.map(({ table, condition, order }) => `(
        select ${partColumns[table]} from ${schema}.${table} ${where} and ${condition}
        order by ${order.map((column) => `${column} ${direction}`).join(', ')} limit ${most}::bigint + ${passed}::bigint
      )`)
      return readJson<Delivery>(offset < deepOffset ? session : patient, 'list deliveries', `
        select json_build_object(${deliveryMembers})::text as json
        from (
          select * from (${pages.join(' union all ')}) as found
          order by id ${direction} limit ${most}::bigint offset ${passed}::bigint
        ) as d
        join ${schema}.events e on e.seq = d.event_seq
        order by d.id ${direction}`, where.values)
    },

    async count (tenant, webhookId, filter, { limit } = {}) {
      const { parts, where } = splitByFilter(tenant, webhookId, filter)
      // Null means no limit.
      const most = where.bind(limit ?? null)
      const found = parts.map(({ table, condition, order }) => `(
        select from ${schema}.${table} ${where} and ${condition} order by ${order.join(', ')} limit ${most}::bigint
      )`)
      return Number(await readValue(session, 'count deliveries', `
        select count(*) from (select from (${found.join(' union all ')}) as found limit ${most}::bigint) as counted`,
      where.values))
    },

    find: (...values) => findDelivery(session, schema, ...values),

    listSubjectEvents: (tenant, subject, { after, limit }) =>
      readJson<SubjectEvent>(session, 'list events of a subject', subjectText, [tenant, subject, after, limit])
  }
}

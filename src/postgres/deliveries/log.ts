import type {
  Attempt, Delivery, DeliveryFilter, DeliveryStatus, DeliveryStore, DeliveryWithAttempts
} from '../../ports/index.js'
import type { Session } from '../session.js'
import { Conditions, toIso } from '../sql.js'

interface Sessions {
  session: Session
  /** With a longer time limit. */
  patient: Session
}

/** Pages from here on read so many deliveries that they may take longer. */
const deepOffset = 10_000

interface DeliveryRow {
  id: string
  event_id: string
  event_type: string
  status: DeliveryStatus
  attempt_count: number
  last_attempt: string | null
  next_attempt_at: string | null
  created_at: string
  delivered_at: string | null
}

interface FoundRow extends DeliveryRow {
  earlier: string | null
  /** Of the attempt that ended the delivery. */
  response_excerpt: string | null
  body: string
}

/** An attempt without an excerpt has no such member. */
type LoggedAttempt = Omit<Attempt, 'response_excerpt'> & Partial<Attempt>

const columns = `
  d.id::text, e.id as event_id, e.type as event_type, d.status,
  coalesce(jsonb_array_length(d.earlier), 0) + (d.duration_ms is not null)::integer as attempt_count,
  case when d.duration_ms is null then (d.earlier -> -1) - 'response_excerpt' else jsonb_build_object(
    'started_at', ${toIso("(d.ended_at - d.duration_ms * interval '1 millisecond')")}, 'duration_ms', d.duration_ms,
    'response_status', d.response_status, 'error', d.error
  ) end::text as last_attempt,
  ${toIso('d.due_at')} as next_attempt_at,
  ${toIso('d.created_at')} as created_at,
  case d.status when 'delivered' then ${toIso('d.ended_at')} end as delivered_at`

const lanes = ['lane = 0', 'lane = 1', 'lane = 2', 'lane = 3', 'lane is null']
const endedStatuses = ['delivered', 'failed', 'skipped', 'cancelled'] as const

/** Some deliveries of the log, and the order in which one index has exactly these. */
interface Part {
  table: 'queue' | 'deliveries'
  condition: string
  order: string[]
}

/** Splits the log into parts, so that a page and a total read only what they return. */
function splitLog (where: Conditions, { status, eventType }: DeliveryFilter): Part[] {
  const type = eventType === undefined ? null : where.bind(eventType)
  const isOfType = type === null ? null : isEqual('event_type', type)
  const pending: Part[] = isOfType === null
    ? lanes.map((lane) => ({ table: 'queue', condition: lane, order: ['id'] }))
    : [
        // Those in flight are few.
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
 * Compares by a range. So the order of this column and the id is not that of ids alone, in which the planner would
 * read the whole log if it expects many matches.
 */
function isEqual (column: string, value: string): string {
  return `${column} >= ${value} and ${column} <= ${value}`
}

const partColumns = {
  queue: `id, event_seq, 'pending' as status, created_at, due_at, null::timestamptz as ended_at, attempts as earlier,
    null::integer as duration_ms, null::integer as response_status, null as error, null as response_excerpt`,
  deliveries: `id, event_seq, status, created_at, null::timestamptz as due_at, ended_at, earlier,
    duration_ms, response_status, error, response_excerpt`
}

/** Reads deliveries of the log and of the queue; `schema` is quoted. */
export function createDeliveryLog (
  { session, patient }: Sessions, schema: string
): Pick<DeliveryStore, 'list' | 'count' | 'find'> {
  function ofWebhook (tenant: string, webhookId: number): Conditions {
    const where = new Conditions([(value) => `webhook_id = ${value}::bigint`, webhookId])
    where.add(
      (value) => `exists (select from ${schema}.webhooks w where w.tenant = ${value} and w.id = $1::bigint)`,
      tenant
    )
    return where
  }

  function splitByFilter (
    tenant: string,
    webhookId: number,
    filter: DeliveryFilter
  ): { parts: Part[]; where: Conditions } {
    const where = ofWebhook(tenant, webhookId)
    where.add((value) => `event_seq = (select seq from ${schema}.events where id = ${value})`, filter.eventId)
    return { parts: splitLog(where, filter), where }
  }

  return {
    async list (tenant, webhookId, { filter, sort: [first], offset, limit }) {
      const { parts, where } = splitByFilter(tenant, webhookId, filter)
      // Ids ascend with the time of creation.
      const direction = first?.direction === 'desc' ? 'desc' : 'asc'
      const [most, passed] = [where.bind(limit), where.bind(offset)]
      const pages = parts.map(({ table, condition, order }) => `(
        select ${partColumns[table]} from ${schema}.${table} ${where} and ${condition}
        order by ${order.map((column) => `${column} ${direction}`).join(', ')} limit ${most}::bigint + ${passed}::bigint
      )`)
      const text = `
        select ${columns}
        from (
          select * from (${pages.join(' union all ')}) as found
          order by id ${direction} limit ${most}::bigint offset ${passed}::bigint
        ) as d
        join ${schema}.events e on e.seq = d.event_seq
        order by d.id ${direction}`
      const rows = await (offset < deepOffset ? session : patient).query<DeliveryRow>(
        'list deliveries',
        text,
        where.values
      )
      return rows.map(parseDelivery)
    },

    async count (tenant, webhookId, filter, { limit } = {}) {
      const { parts, where } = splitByFilter(tenant, webhookId, filter)
      // Null is no limit.
      const most = where.bind(limit ?? null)
      const found = parts.map(({ table, condition, order }) => `(
        select from ${schema}.${table} ${where} and ${condition} order by ${order.join(', ')} limit ${most}::bigint
      )`)
      const text = `
        select count(*)::text as total
        from (select from (${found.join(' union all ')}) as found limit ${most}::bigint) as counted`
      const [row] = await session.query<{ total: string }>('count deliveries', text, where.values)
      return Number(row?.total)
    },

    async find (tenant, webhookId, id) {
      const where = ofWebhook(tenant, webhookId)
      where.add((value) => `id = ${value}::bigint`, id)
      const parts = splitLog(where, {}).map(({ table, condition }) =>
        `select ${partColumns[table]} from ${schema}.${table} ${where} and ${condition}`)
      const [row] = await session.query<FoundRow>('find delivery', `
        select ${columns}, d.earlier::text as earlier, d.response_excerpt, e.body
        from (${parts.join(' union all ')}) as d
        join ${schema}.events e on e.seq = d.event_seq`, where.values)
      return row === undefined ? null : parseDeliveryWithAttempts(row)
    }
  }
}

function parseDelivery (row: DeliveryRow): Delivery {
  const last = row.last_attempt === null ? null : JSON.parse(row.last_attempt) as LoggedAttempt
  return {
    id: Number(row.id),
    event_id: row.event_id,
    event_type: row.event_type,
    status: row.status,
    attempt_count: Number(row.attempt_count),
    response_status: last?.response_status ?? null,
    error: last?.error ?? null,
    next_attempt_at: row.next_attempt_at,
    created_at: row.created_at,
    delivered_at: row.delivered_at
  }
}

function parseDeliveryWithAttempts (row: FoundRow): DeliveryWithAttempts {
  const attempts = JSON.parse(row.earlier ?? '[]') as LoggedAttempt[]
  if (row.last_attempt !== null && attempts.length < Number(row.attempt_count)) {
    attempts.push({ ...JSON.parse(row.last_attempt), response_excerpt: row.response_excerpt })
  }
  return { ...parseDelivery(row), body: row.body, attempts: attempts.map(parseAttempt) }
}

// jsonb does not keep the order of members.
function parseAttempt (attempt: LoggedAttempt): Attempt {
  const {
    started_at: startedAt,
    duration_ms: durationMs,
    response_status: responseStatus,
    error,
    response_excerpt: excerpt = null
  } = attempt
  return {
    started_at: startedAt,
    duration_ms: durationMs,
    response_status: responseStatus,
    error,
    response_excerpt: excerpt
  }
}

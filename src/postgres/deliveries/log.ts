import type {
  Attempt, Delivery, DeliveryFilter, DeliveryStatus, DeliveryStore, DeliveryWithAttempts
} from '../../ports/index.js'
import type { Session } from '../session.js'
import { Conditions, toIso } from '../sql.js'

/** A filter, or one delivery by its `id`. */
type Selection = DeliveryFilter & { id?: number }

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

// In each part an index gives the order of ids.
const queueParts = ['lane = 0', 'lane = 1', 'lane = 2', 'lane = 3', 'lane is null']

/** Reads deliveries of the log and of the queue; `schema` is quoted. */
export function createDeliveryLog (session: Session, schema: string): Pick<DeliveryStore, 'list' | 'count' | 'find'> {
  /** Returns one statement for each part, and their conditions. */
  function select (tenant: string, webhookId: number, { status, eventType, eventId, id }: Selection): { parts: string[], where: Conditions } {
    const where = new Conditions(
      ['webhook_id = $::bigint', webhookId],
      ['id = $::bigint', id],
      [`event_seq = (select seq from ${schema}.events where id = $)`, eventId],
      [`(select type from ${schema}.events where seq = event_seq) = $`, eventType]
    )
    where.add(`exists (select from ${schema}.webhooks w where w.tenant = $ and w.id = $1::bigint)`, tenant)
    const queued = status === undefined || status === 'pending' ? queueParts : []
    const parts = queued.map((part) => `
      select id, event_seq, 'pending' as status, created_at, due_at, null::timestamptz as ended_at, attempts as earlier,
        null::integer as duration_ms, null::integer as response_status, null as error,
        null as response_excerpt
      from ${schema}.queue ${where} and ${part}`)
    if (status !== 'pending') {
      const ended = status === undefined ? '' : `and status = ${where.bind(status)}`
      parts.push(`
        select id, event_seq, status, created_at, null::timestamptz as due_at, ended_at, earlier, duration_ms, response_status, error,
          response_excerpt
        from ${schema}.deliveries ${where} ${ended}`)
    }
    return { parts, where }
  }

  return {
    async list (tenant, webhookId, { filter, sort: [first], offset, limit }) {
      const { parts, where } = select(tenant, webhookId, filter)
      // Ids ascend with the time of creation.
      const direction = first?.direction === 'desc' ? 'desc' : 'asc'
      const [most, passed] = [where.bind(limit), where.bind(offset)]
      const pages = parts.map((part) => `(${part} order by id ${direction} limit ${most}::bigint + ${passed}::bigint)`)
      const rows = await session.query<DeliveryRow>('list deliveries', `
        select ${columns}
        from (select * from (${pages.join(' union all ')}) as found order by id ${direction} limit ${most}::bigint offset ${passed}::bigint) as d
        join ${schema}.events e on e.seq = d.event_seq
        order by d.id ${direction}`, where.values)
      return rows.map(parseDelivery)
    },

    async count (tenant, webhookId, filter) {
      const { parts, where } = select(tenant, webhookId, filter)
      const [row] = await session.query<{ total: string }>('count deliveries', `select count(*)::text as total from (${parts.join(' union all ')}) as found`, where.values)
      return Number(row?.total)
    },

    async find (tenant, webhookId, id) {
      const { parts, where } = select(tenant, webhookId, { id })
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
  const { started_at: startedAt, duration_ms: durationMs, response_status: responseStatus, error, response_excerpt: excerpt = null } = attempt
  return { started_at: startedAt, duration_ms: durationMs, response_status: responseStatus, error, response_excerpt: excerpt }
}

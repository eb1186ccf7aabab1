import type {
  Attempt, AttemptError, Delivery, DeliveryFilter, DeliverySortField, DeliveryStatus, DeliveryStore, DeliveryWithAttempts
} from '../ports/index.js'
import type { Session } from './session.js'
import { Conditions, orderBy, toIso } from './sql.js'

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

const columns = `
  d.id::text, e.id as event_id, e.type as event_type, d.status, jsonb_array_length(d.attempts) as attempt_count,
  (d.attempts -> -1)::text as last_attempt,
  case when d.status = 'pending' then ${toIso('d.next_attempt_at')} end as next_attempt_at,
  ${toIso('d.created_at')} as created_at, ${toIso('d.delivered_at')} as delivered_at`

const sortColumns: Record<DeliverySortField, string> = { id: 'd.id', created_at: 'd.created_at' }

/** The log of a webhook; `schema` is quoted. */
export function createDeliveryLog (session: Session, schema: string): Pick<DeliveryStore, 'list' | 'count' | 'find'> {
  const tables = `
    ${schema}.deliveries d
    join ${schema}.events e on e.seq = d.event_seq
    join ${schema}.webhooks w on w.id = d.webhook_id`

  function filterBy (tenantSlug: string, webhookId: number, { status, eventType, eventId }: DeliveryFilter): Conditions {
    return new Conditions(
      ['w.tenant_slug = $', tenantSlug],
      ['d.webhook_id = $', webhookId],
      ['d.status = $', status],
      ['e.type = $', eventType],
      ['e.id = $', eventId]
    )
  }

  return {
    async list (tenantSlug, webhookId, { filter, sort, offset, limit }) {
      const where = filterBy(tenantSlug, webhookId, filter)
      const rows = await session.query<DeliveryRow>('list deliveries', `
        select ${columns} from ${tables} ${where}
        ${orderBy(sort, sortColumns)} limit ${where.bind(limit)} offset ${where.bind(offset)}`, where.values)
      return rows.map(parseDelivery)
    },

    async count (tenantSlug, webhookId, filter) {
      const where = filterBy(tenantSlug, webhookId, filter)
      const [row] = await session.query<{ total: string }>('count deliveries',
        `select count(*)::text as total from ${tables} ${where}`, where.values)
      return Number(row?.total)
    },

    async find (tenantSlug, webhookId, id) {
      const where = filterBy(tenantSlug, webhookId, {})
      where.add('d.id = $', id)
      const [row] = await session.query<DeliveryRow & { attempts: string }>('find delivery',
        `select ${columns}, d.attempts::text as attempts from ${tables} ${where}`, where.values)
      return row === undefined ? null : parseDeliveryWithAttempts(row)
    }
  }
}

function parseDelivery (row: DeliveryRow): Delivery {
  const last = row.last_attempt === null ? null : JSON.parse(row.last_attempt) as Attempt
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

function parseDeliveryWithAttempts (row: DeliveryRow & { attempts: string }): DeliveryWithAttempts {
  const attempts = JSON.parse(row.attempts) as Attempt[]
  return { ...parseDelivery(row), attempts: attempts.map(parseAttempt) }
}

// jsonb keeps members in an order of its own.
function parseAttempt (attempt: Attempt): Attempt {
  const { started_at: startedAt, duration_ms: durationMs, response_status: responseStatus, error } = attempt
  return { started_at: startedAt, duration_ms: durationMs, response_status: responseStatus, error: error satisfies AttemptError | null }
}

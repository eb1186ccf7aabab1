import type { AttemptError, DeliveryStatus, DeliveryStore, SubjectDelivery, SubjectEvent } from '../../ports/index.js'
import type { Session } from '../session.js'
import { toIso } from '../sql.js'

interface EventRow {
  position: string
  id: string
  type: string
  recorded_at: string
  is_erased: boolean
  /** A JSON array of `DeliveryItem`, or `null`. */
  deliveries: string | null
}

interface DeliveryItem {
  id: number
  webhook_id: number
  name: string | null
  target_url: string | null
  status: DeliveryStatus
  delivered_at: string | null
  attempts: Array<{ started_at: string, response_status: number | null, error: AttemptError | null }>
}

/** Lists events with a subject, with their deliveries; `schema` is quoted. */
export function createListSubjectEvents (session: Session, schema: string): DeliveryStore['listSubjectEvents'] {
  const named = (table: string, seq: string): string => `
    select ${seq} as seq from ${schema}.${table}
    where tenant_key = coalesce((select t.key from ${schema}.tenants t where t.tenant = $1), $1) and subject = $2
      and ${seq} > $3::bigint
    order by ${seq} limit $4::bigint`
  const text = `
    select e.seq::text as position, e.id, e.type, ${toIso('e.recorded_at')} as recorded_at,
      e.body = coalesce(e.tombstone, '') as is_erased, sent.deliveries
    from (
      (${named('events', 'seq')}) union (${named('event_subjects', 'event_seq')}) order by seq limit $4::bigint
    ) as found
    join ${schema}.events e on e.seq = found.seq
    cross join lateral (
      select json_agg(json_build_object(
        'id', d.id, 'webhook_id', d.webhook_id, 'name', w.name, 'target_url', w.target_url, 'status', d.status,
        'delivered_at', case d.status when 'delivered' then ${toIso('d.ended_at')} end,
        'attempts', coalesce(d.earlier, '[]') || case when d.duration_ms is null then '[]' else jsonb_build_array(jsonb_build_object(
          'started_at', ${toIso("(d.ended_at - d.duration_ms * interval '1 millisecond')")},
          'response_status', d.response_status, 'error', d.error
        )) end
      ) order by d.id)::text as deliveries
      from (
        select q.id, q.webhook_id, 'pending' as status, q.attempts as earlier, null::timestamptz as ended_at,
          null::integer as duration_ms, null::integer as response_status, null as error
        from ${schema}.queue q where q.event_seq = e.seq
        union all
        select l.id, l.webhook_id, l.status, l.earlier, l.ended_at, l.duration_ms, l.response_status, l.error
        from ${schema}.deliveries l where l.event_seq = e.seq
      ) as d
      left join ${schema}.webhooks w on w.id = d.webhook_id
    ) as sent
    order by e.seq`

  return async (tenant, subject, { after, limit }) => {
    const rows = await session.query<EventRow>('list events of a subject', text, [tenant, subject, after, limit])
    return rows.map(parseEvent)
  }
}

function parseEvent (row: EventRow): SubjectEvent {
  const deliveries = JSON.parse(row.deliveries ?? '[]') as DeliveryItem[]
  return {
    position: Number(row.position),
    eventId: row.id,
    eventType: row.type,
    recordedAt: row.recorded_at,
    isErased: row.is_erased,
    deliveries: deliveries.map(parseDelivery)
  }
}

function parseDelivery ({
  id,
  webhook_id: webhookId,
  name,
  target_url: targetUrl,
  status,
  delivered_at: deliveredAt,
  attempts
}: DeliveryItem): SubjectDelivery {
  return {
    deliveryId: id,
    webhookId,
    webhookName: name,
    targetUrl,
    status,
    deliveredAt,
    attempts: attempts.map(({ started_at: startedAt, response_status: responseStatus, error }) => ({
      startedAt,
      responseStatus,
      error
    }))
  }
}

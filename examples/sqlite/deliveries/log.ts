import type { Attempt, AttemptError, Delivery, DeliveryFilter, DeliveryStore } from 'fastify-recruiting-api'
import { type SqlBool, sql } from 'kysely'
import type { Context } from '../storage.js'
import { toIso } from '../webhooks.js'

interface LogRow {
  id: number
  event_id: string
  event_type: string
  status: Delivery['status']
  attempt_count: number
  response_status: number | null
  error: AttemptError | null
  next_attempt_at: number
  created_at: number
  delivered_at: number | null
}

const columns = sql`d.id, d.event_id, e.type as event_type, d.status, d.attempt_count, d.next_attempt_at, d.created_at, d.delivered_at,
  (select response_status from attempts where delivery_id = d.id order by rowid desc limit 1) as response_status,
  (select error from attempts where delivery_id = d.id order by rowid desc limit 1) as error`

const tables = sql`deliveries d join events e on e.id = d.event_id join webhooks w on w.id = d.webhook_id`

/** Reads the log of a webhook. */
export function createLog ({ db }: Context): Pick<DeliveryStore, 'list' | 'count' | 'find'> {
  return {
    async list (tenant, webhookId, { filter, sort, offset, limit }) {
      const order = sort.map(({ field, direction }) => sql`${sql.ref(`d.${field}`)} ${sql.raw(direction)}`)
      const { rows } = await sql<LogRow>`select ${columns} from ${tables} where ${conditions(tenant, webhookId, filter)}
        order by ${sql.join(order)} limit ${limit} offset ${offset}`.execute(db)
      return rows.map(show)
    },

    async count (tenant, webhookId, filter) {
      const { rows } = await sql<{ total: number }>`select count(*) as total from ${tables} where ${conditions(tenant, webhookId, filter)}`.execute(db)
      return rows[0]?.total ?? 0
    },

    async find (tenant, webhookId, id) {
      const { rows: [row] } = await sql<LogRow & { body: string }>`select ${columns}, e.body from ${tables} where ${conditions(tenant, webhookId, {})} and d.id = ${id}`.execute(db)
      if (row === undefined) return null
      const { rows: attempts } = await sql<Omit<Attempt, 'started_at'> & { started_at: number }>`
        select started_at, duration_ms, response_status, error, response_excerpt from attempts where delivery_id = ${id} order by rowid`.execute(db)
      const { body, ...delivery } = row
      return { ...show(delivery), body, attempts: attempts.map((attempt) => ({ ...attempt, started_at: toIso(attempt.started_at) })) }
    }
  }
}

function conditions (tenant: string, webhookId: number, { status, eventType, eventId }: DeliveryFilter) {
  const all = [sql<SqlBool>`w.tenant = ${tenant}`, sql<SqlBool>`w.id = ${webhookId}`]
  if (status !== undefined) all.push(sql<SqlBool>`d.status = ${status}`)
  if (eventType !== undefined) all.push(sql<SqlBool>`e.type = ${eventType}`)
  if (eventId !== undefined) all.push(sql<SqlBool>`d.event_id = ${eventId}`)
  return sql.join(all, sql` and `)
}

function show ({ next_attempt_at: nextAttemptAt, created_at: createdAt, delivered_at: deliveredAt, ...row }: LogRow): Delivery {
  return {
    ...row,
    next_attempt_at: row.status === 'pending' ? toIso(nextAttemptAt) : null,
    created_at: toIso(createdAt),
    delivered_at: deliveredAt === null ? null : toIso(deliveredAt)
  }
}

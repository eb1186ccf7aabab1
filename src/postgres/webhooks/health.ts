import type { AttemptError, FailingWebhook, WebhookHealth, WebhookStore } from '../../ports/index.js'
import type { Session } from '../session.js'
import { toIso } from '../sql.js'
import { parseWebhook, webhookColumns, type WebhookRow } from './webhook-row.js'

/** Of `webhooks w` and its `webhook_health h`, if there is one. */
const healthColumns = `
  ${toIso('h.failing_since')} as failing_since, coalesce(h.failed_deliveries, 0)::text as failed_deliveries,
  case when w.status = 'active' and h.paused_until > clock_timestamp() then ${toIso('h.paused_until')} end as paused_until,
  case w.status when 'disabled' then w.disabled_reason end as disabled_reason`

interface HealthRow {
  failing_since: string | null
  failed_deliveries: string
  paused_until: string | null
  disabled_reason: WebhookHealth['disabled_reason']
}

interface FailingRow extends HealthRow, WebhookRow {
  tenant: string
  tenant_slug: string
  last_error: AttemptError | null
  last_response_status: string | null
  pending: string
}

/** Reads the health of webhooks; `schema` is quoted. */
export function createHealth (session: Session, schema: string): Pick<WebhookStore, 'findHealth' | 'listFailing'> {
  const tables = `${schema}.webhooks w left join ${schema}.webhook_health h on h.webhook_id = w.id
    and h.revision = w.revision`

  return {
    async findHealth (tenant, id) {
      const [row] = await session.query<HealthRow>('find health', `
        select ${healthColumns} from ${tables} where w.tenant = $1 and w.id = $2`, [tenant, id])
      return row === undefined ? null : parseHealth(row)
    },

    async listFailing ({ limit, maxPending }) {
      const waiting = (condition: string): string => `
        select from ${schema}.queue q where q.webhook_id = w.id and q.id >= w.skip_before and ${condition} limit $2`
      const rows = await session.query<FailingRow>(
        'list failing webhooks',
        `
        select ${webhookColumns}, w.tenant, w.tenant_slug, ${healthColumns}, h.last_error, h.last_response_status::text,
          (select count(*) from (
            (${waiting('q.lane is not null')}) union all (${waiting('q.lane is null')}) limit $2
          ) as counted)::text as pending
        from ${tables}
        where w.id = any (array(
          select w.id from ${tables}
          where w.id = any (array(
            select webhook_id from ${schema}.webhook_health
            union select id from ${schema}.webhooks where status = 'disabled'
          )) and (w.status = 'disabled' or (w.status = 'active' and h.webhook_id is not null))
          order by h.failing_since nulls last, w.id
          limit $1
        ))
        order by h.failing_since nulls last, w.id`,
        [limit, maxPending]
      )
      return rows.map(parseFailing)
    }
  }
}

function parseHealth ({
  failing_since: since,
  failed_deliveries: failed,
  paused_until: until,
  disabled_reason: reason
}: HealthRow): WebhookHealth {
  return { failing_since: since, failed_deliveries: Number(failed), paused_until: until, disabled_reason: reason }
}

function parseFailing (row: FailingRow): FailingWebhook {
  const {
    tenant: tenantId,
    tenant_slug: tenantSlug,
    last_error: lastError,
    last_response_status: status,
    pending
  } = row
  return {
    tenantId,
    tenantSlug,
    webhook: parseWebhook(row),
    health: parseHealth(row),
    lastError,
    lastResponseStatus: status === null ? null : Number(status),
    pending: Number(pending)
  }
}

import type { AttemptError, ClaimedNotice, DeliveryStore, HealthNotice } from '../../ports/index.js'
import type { Session } from '../session.js'
import { toIso } from '../sql.js'
import type { StopDeliveries } from './stop.js'

/** Disables webhooks with a verdict, and stores notices until the host has received them. */
export interface Notices extends Pick<DeliveryStore, 'claimNotices' | 'confirmNotice'> {
  /** Disables the webhooks that got a verdict from `recordAttempts`. */
  disableFailing (): Promise<void>
}

interface NoticeRow {
  id: string
  kind: HealthNotice['kind']
  tenant: string
  tenant_slug: string
  webhook_id: string
  failing_since: string
  failed_deliveries: number
  last_error: AttemptError
  last_response_status: number | null
}

/** `schema` is quoted. */
export function createNotices (session: Session, schema: string, stop: StopDeliveries): Notices {
  async function disableFailing (): Promise<void> {
    const disabled = await session.query<{ id: string }>(
      'disable webhooks',
      `select id::text from ${schema}.disable_failing_webhooks_v1() as id`
    )
    for (const { id } of disabled) await stop.sweep(Number(id))
  }

  return {
    disableFailing,

    async claimNotices ({ limit, leaseMs, environment = null }) {
      await disableFailing()
      const rows = await session.query<NoticeRow>(
        'claim notices',
        `
        update ${schema}.notices set leased_until = clock_timestamp() + $2 * interval '1 millisecond'
        where id = any (array(
          select id from ${schema}.notices where leased_until <= clock_timestamp() and not exists (select from ${schema}.find_hold_v1($3))
          order by id limit $1 for update skip locked
        ))
        returning id::text, kind, tenant, tenant_slug, webhook_id::text, ${toIso('failing_since')} as failing_since, failed_deliveries,
          last_error, last_response_status`,
        [limit, leaseMs, environment]
      )
      return rows.map(parseNotice).sort((a, b) => a.noticeId - b.noticeId)
    },

    async confirmNotice (noticeId) {
      // A host that renames or removes the tenant may have locked it: the notice is then reported again.
      await session.query(
        'confirm notice',
        `
        delete from ${schema}.notices where id = (select id from ${schema}.notices where id = $1 for update skip locked)`,
        [noticeId]
      )
    }
  }
}

function parseNotice (row: NoticeRow): ClaimedNotice {
  return {
    noticeId: Number(row.id),
    notice: {
      kind: row.kind,
      tenantId: row.tenant,
      tenantSlug: row.tenant_slug,
      webhookId: Number(row.webhook_id),
      failingSince: row.failing_since,
      failedDeliveries: Number(row.failed_deliveries),
      lastError: row.last_error,
      lastResponseStatus: row.last_response_status
    }
  }
}

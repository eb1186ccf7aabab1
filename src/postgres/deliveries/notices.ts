import type { AttemptError, ClaimedNotice, DeliveryStore, HealthNotice } from '../../ports/index.js'
import type { Session } from '../session.js'
import { toIso } from '../sql.js'
import type { StopDeliveries } from './stop.js'

/** Disables webhooks with a verdict, and stores notices until the host has received them. */
export interface Notices extends Pick<DeliveryStore, 'claimNotices' | 'confirmNotice'> {
  /** Disables the webhooks that got a verdict from `complete`. */
  carryOutVerdicts (): Promise<void>
}

interface NoticeRow {
  id: string
  kind: HealthNotice['kind']
  tenant_slug: string
  webhook_id: string
  failing_since: string
  failed_deliveries: number
  last_error: AttemptError
  last_response_status: number | null
}

/** `schema` is quoted. */
export function createNotices (session: Session, schema: string, stop: StopDeliveries): Notices {
  async function carryOutVerdicts (): Promise<void> {
    const disabled = await session.query<{ id: string }>('disable webhooks', `select id::text from ${schema}.carry_out_verdicts_v1() as id`)
    for (const { id } of disabled) await stop.sweep(Number(id))
  }

  return {
    carryOutVerdicts,

    async claimNotices ({ limit, leaseMs }) {
      await carryOutVerdicts()
      const rows = await session.query<NoticeRow>('claim notices', `
        update ${schema}.notices set leased_until = clock_timestamp() + $2 * interval '1 millisecond'
        where id = any (array(
          select id from ${schema}.notices where leased_until <= clock_timestamp() order by id limit $1 for update skip locked
        ))
        returning id::text, kind, tenant_slug, webhook_id::text, ${toIso('failing_since')} as failing_since, failed_deliveries,
          last_error, last_response_status`, [limit, leaseMs])
      return rows.map(parseNotice).sort((a, b) => a.noticeId - b.noticeId)
    },

    async confirmNotice (noticeId) {
      await session.query('confirm notice', `delete from ${schema}.notices where id = $1`, [noticeId])
    }
  }
}

function parseNotice (row: NoticeRow): ClaimedNotice {
  return {
    noticeId: Number(row.id),
    notice: {
      kind: row.kind,
      tenantSlug: row.tenant_slug,
      webhookId: Number(row.webhook_id),
      failingSince: row.failing_since,
      failedDeliveries: Number(row.failed_deliveries),
      lastError: row.last_error,
      lastResponseStatus: row.last_response_status
    }
  }
}

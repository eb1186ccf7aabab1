import type { Command } from '../command.js'
import { formatRecord, formatTable, show } from '../output.js'
import { webhookOption } from '../webhooks/find.js'
import { findDelivery } from './find.js'

export const command: Command = {
  args: ['ID'],
  options: { webhook: webhookOption },

  async run (context) {
    const { delivery } = await findDelivery(context)
    const { attempts, ...fields } = delivery
    const rows = attempts.map((attempt) => [attempt.started_at, `${attempt.duration_ms} ms`, attempt.error, attempt.response_status])
    const table = rows.length === 0 ? '' : `\n${formatTable([['attempt', 'duration', 'error', 'response'], ...rows])}`
    show(context, delivery, formatRecord(fields) + table)
    return 0
  }
}

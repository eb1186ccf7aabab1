import type { Command } from '../command.js'
import { formatRecord, formatTable, show } from '../output.js'
import { webhookOption } from '../webhooks/find.js'
import { findDelivery } from './find.js'

export const command: Command = {
  args: ['ID'],
  options: {
    webhook: webhookOption,
    body: { value: null, about: 'also shows what is sent, which may be data of a person' }
  },

  async run (context) {
    const { delivery } = await findDelivery(context)
    const { attempts, body, ...fields } = delivery
    const hasBody = context.flags.has('body')
    const rows = attempts.map((attempt) => [
      attempt.started_at, `${attempt.duration_ms} ms`, attempt.error, attempt.response_status, attempt.response_excerpt
    ])
    const table = rows.length === 0 ? '' : `\n${formatTable([['attempt', 'duration', 'error', 'response', 'excerpt'], ...rows])}`
    const text = formatRecord(fields) + table + (hasBody ? `\n${formatTable([[body]])}` : '')
    show(context, hasBody ? delivery : { ...fields, attempts }, text)
    return 0
  }
}

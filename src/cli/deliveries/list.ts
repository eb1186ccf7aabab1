import { omitUndefined } from '../../shared/omit-undefined.js'
import { isPlainText } from '../../shared/text.js'
import { type Command, UsageError } from '../command.js'
import { formatTable, show } from '../output.js'
import { findTarget, openStorage, webhookOption } from '../webhooks/find.js'

const usualLimit = 25
const statuses = ['pending', 'delivered', 'failed', 'skipped', 'cancelled'] as const

export const command: Command = {
  args: [],
  options: {
    webhook: webhookOption,
    status: { value: 'STATUS', about: `${statuses.join(', ')}; the default is all of them` },
    event: { value: 'ID', about: 'only deliveries of this event' },
    limit: { value: 'COUNT', about: `shows at most so many, the latest first, 1 to 1000; the default is ${usualLimit}` }
  },

  async run (context) {
    const { flags } = context
    const eventId = flags.text('event')
    if (eventId !== undefined && !isPlainText(eventId, 64)) throw new UsageError(`--event: expected the id of an event, got ${JSON.stringify(eventId)}`)
    const filter = omitUndefined({ status: flags.oneOf('status', statuses), eventId })
    const limit = flags.integer('limit', 1, 1000) ?? usualLimit
    const { tenantSlug, id } = await findTarget(context, '--webhook', flags.required('webhook'))
    const { deliveries } = openStorage(context)
    const total = await deliveries.count(tenantSlug, id, filter)
    const data = await deliveries.list(tenantSlug, id, { filter, sort: [{ field: 'id', direction: 'desc' }], offset: 0, limit })
    const rows = data.map((delivery) => [
      delivery.id, delivery.status, delivery.event_type, delivery.event_id, delivery.attempt_count, delivery.error, delivery.response_status, delivery.created_at, delivery.next_attempt_at
    ])
    const header = ['id', 'status', 'event type', 'event', 'attempts', 'error', 'response', 'created', 'next attempt']
    show(context, { data, total }, rows.length === 0 ? 'no deliveries\n' : `${formatTable([header, ...rows])}${rows.length} of ${total}\n`)
    return 0
  }
}

import type { ReplayResult, Tenant } from '../../core/ports/index.js'
import { systemClock } from '../../core/shared/clock.js'
import { omitUndefined } from '../../core/shared/fields.js'
import { isPlainText } from '../../core/shared/text.js'
import { createDeliveryOperations } from '../../core/webhooks/delivery-log.js'
import { type Command, type Context, CommandError, UsageError } from './command.js'
import { findTarget, openStorage, readId, webhookOption } from './find.js'
import { confirm, formatCount, formatRecord, formatRecords, showResult, withProgress } from './terminal.js'

const usualLimit = 25
/** Counting more would take too long. */
const maxTotal = 10_000
const statuses = ['pending', 'delivered', 'failed', 'skipped', 'cancelled'] as const

export const list: Command = {
  options: {
    webhook: webhookOption,
    status: { value: 'STATUS', about: `${statuses.join(', ')}; the default is all of them` },
    event: { value: 'ID', about: 'only deliveries of this event' },
    limit: { value: 'COUNT', about: `shows at most this many, latest first, 1 to 1000; the default is ${usualLimit}` }
  },

  async run (context) {
    const { flags } = context
    const eventId = flags.text('event')
    if (eventId !== undefined && !isPlainText(eventId, 64)) {
      throw new UsageError(`--event: expected the id of an event, got ${JSON.stringify(eventId)}`)
    }
    const filter = omitUndefined({ status: flags.oneOf('status', statuses), eventId })
    const limit = flags.integer('limit', 1, 1000) ?? usualLimit
    const { tenant, id } = await findTarget(context, '--webhook', flags.required('webhook'))
    const { deliveries } = openStorage(context)
    const counted = await deliveries.count(tenant.id, id, filter, { limit: maxTotal + 1 })
    const sort = [{ field: 'id', direction: 'desc' }] as const
    const data = await deliveries.list(tenant.id, id, { filter, sort, offset: 0, limit })
    const table = formatRecords(data, {
      id: 'id',
      status: 'status',
      'event type': 'event_type',
      event: 'event_id',
      attempts: 'attempt_count',
      error: 'error',
      detail: 'detail',
      response: 'response_status',
      created: 'created_at',
      'next attempt': 'next_attempt_at'
    }, 'no deliveries')
    const total = Math.min(counted, maxTotal)
    const isCapped = counted > total
    const result = { data, total, ...isCapped ? { total_is_capped: true } : {} }
    const summary = data.length === 0 ? [] : [`${data.length} of ${isCapped ? 'more than ' : ''}${total}`]
    showResult(context, result, [...table, ...summary])
  }
}

export const show: Command = {
  args: ['ID'],
  options: {
    webhook: webhookOption,
    body: { value: null, about: 'also shows the body and the start of each response, which may contain personal data' }
  },

  async run (context) {
    const { delivery } = await findDelivery(context)
    const { attempts, body, ...fields } = delivery
    const hasBody = context.flags.has('body')
    const rows = attempts.map((attempt) => ({ ...attempt, duration: `${attempt.duration_ms} ms` }))
    const columns = {
      attempt: 'started_at', duration: 'duration', error: 'error', detail: 'detail', response: 'response_status'
    } as const
    const excerpt = hasBody ? { excerpt: 'response_excerpt' } as const : {}
    const table = rows.length === 0 ? [] : ['', ...formatRecords(rows, { ...columns, ...excerpt }, '')]
    const result = hasBody
      ? delivery
      : { ...fields, attempts: attempts.map(({ response_excerpt: _, ...attempt }) => attempt) }
    showResult(context, result, [...formatRecord(fields), ...table, ...(hasBody ? ['', body] : [])])
  }
}

export const explain: Command = {
  args: ['EVENT'],
  options: { webhook: webhookOption },

  async run (context) {
    const { args: [eventId = ''], flags } = context
    if (!isPlainText(eventId, 64)) {
      throw new UsageError(`EVENT: expected the id of an event, got ${JSON.stringify(eventId)}`)
    }
    const { tenant, id } = await findTarget(context, '--webhook', flags.required('webhook'))
    const explained = await createOperations(context).explain({ ...given(tenant, id), input: { event_id: eventId } })
    if (explained === null) throw new CommandError(`--webhook: there is no webhook ${id}`)
    const { filter, delivery, ...fields } = explained
    showResult(context, explained, formatRecord({
      ...fields,
      ...filter === null ? {} : { ...filter, expected: JSON.stringify(filter.expected) },
      ...delivery === null ? {} : { delivery: delivery.id, delivered_at: delivery.delivered_at }
    }))
  }
}

/** Creates the operations of an engine, without starting one. */
function createOperations (context: Context) {
  const { webhooks, deliveries, feed, holds } = openStorage(context)
  return createDeliveryOperations({
    webhooks,
    history: { ...deliveries, ...feed === undefined ? {} : { findEvent: feed.find } },
    clock: systemClock,
    async findStop (tenantId) {
      const states = await webhooks.listStates()
      if (states.some((state) => state.tenantId === tenantId && state.suspendedSince !== null)) return 'suspended'
      return await holds?.find(null) ? 'held' : null
    },
    // Checks the event types of a replay, which the command does not take.
    async assertUsable () {}
  })
}

function given (tenant: Tenant, id: number) {
  return { tenant, id, deliveryId: 0, omitBody: false, caller: { type: 'code', id: null } } as const
}

export const retry: Command = {
  args: ['ID'],
  options: { webhook: webhookOption },

  async run (context) {
    const { target: { tenant, id, text }, delivery } = await findDelivery(context)
    const event = `${delivery.event_id} (${delivery.event_type})`
    await confirm(context, `Sends the event ${event} ${delivery.status === 'pending' ? 'now' : 'again'}, to ${text}.`)
    const retried = await openStorage(context).deliveries.retry(tenant.id, id, delivery.id)
    if (retried === null) throw createInactiveError(id, 'not active')
    showResult(context, retried, formatRecord(retried))
  }
}

function createInactiveError (id: number, status: string): CommandError {
  return new CommandError(
    `--webhook: the webhook ${id} is ${status}: run fastify-recruiting-api webhooks enable ${id}`)
}

async function findDelivery (context: Context) {
  const { args: [given = ''], flags } = context
  const deliveryId = readId('ID', given)
  const target = await findTarget(context, '--webhook', flags.required('webhook'))
  const delivery = await openStorage(context).deliveries.find(target.tenant.id, target.id, deliveryId)
  context.audit.resource = { kind: 'delivery', id: deliveryId }
  if (delivery === null) throw new CommandError(`ID: the webhook ${target.id} has no delivery ${deliveryId}`)
  return { target, delivery }
}

export const replay: Command = {
  options: {
    webhook: webhookOption,
    include: { value: 'WHICH', about: 'undelivered or all; the default is undelivered' },
    since: { value: 'DATE', about: 'start of the period, such as 2030-01-01T00:00:00Z; the default is 24 hours ago' },
    until: { value: 'DATE', about: 'end of the period; the default is now' }
  },

  async run (context) {
    const { flags, io } = context
    const include = flags.oneOf('include', ['undelivered', 'all']) ?? 'undelivered'
    const period = omitUndefined({ since: flags.text('since'), until: flags.text('until') })
    const { tenant, id, webhook, text } = await findTarget(context, '--webhook', flags.required('webhook'))
    if (webhook.status !== 'active') throw createInactiveError(id, webhook.status)
    const operations = createOperations(context)
    const queue = (isDryRun: boolean) =>
      operations.replay({ ...given(tenant, id), input: { include, ...period, dry_run: isDryRun } })
    const counted = await withProgress(io, 'counting', () => queue(true))
    if (counted?.queued === 0) {
      showResult(context, counted, ['there is nothing to replay'])
      return
    }
    const { since = '24 hours ago', until = 'now' } = period
    await confirm(context, `Replays ${describeEvents(include, counted)}, from ${since} until ${until}, to ${text}.`)
    const result = await withProgress(io, 'queueing', () => queue(false))
    const more = result?.truncated === true
      ? ['There are more: run the command again. With --include all, use a later --since.']
      : []
    showResult(context, result, [`queued ${formatCount(Number(result?.queued), 'delivery', 'deliveries')}`, ...more])
  }
}

function describeEvents (include: string, counted: ReplayResult | null): string {
  const events = `${include === 'all' ? '' : 'undelivered '}${counted?.queued === 1 ? 'event' : 'events'}`
  return `${counted?.truncated === true ? 'the oldest ' : ''}${counted?.queued} ${events}`
}

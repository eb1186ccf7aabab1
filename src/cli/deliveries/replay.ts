import { omitUndefined } from '../../shared/omit-undefined.js'
import { systemClock } from '../../shared/clock.js'
import { type ReplaySummary, replay } from '../../webhooks/operations/replay.js'
import { confirm } from '../ask.js'
import { type Command, RefusedError } from '../command.js'
import { show } from '../output.js'
import { withProgress } from '../progress.js'
import { findTarget, openStorage, webhookOption } from '../webhooks/find.js'

export const command: Command = {
  args: [],
  options: {
    webhook: webhookOption,
    include: { value: 'WHICH', about: 'undelivered, which is the default, or all' },
    since: { value: 'DATE', about: 'when the events began, such as 2030-01-01T00:00:00Z; the default is 24 hours ago' },
    until: { value: 'DATE', about: 'when they ended; the default is now' }
  },

  async run (context) {
    const { flags, io } = context
    const include = flags.oneOf('include', ['undelivered', 'all']) ?? 'undelivered'
    const period = omitUndefined({ since: flags.text('since'), until: flags.text('until') })
    const { tenantSlug, id, webhook, text } = await findTarget(context, '--webhook', flags.required('webhook'))
    if (webhook.status !== 'active') throw new RefusedError(`--webhook: the webhook ${id} is ${webhook.status}: run fastify-recruiting-api webhooks enable ${id}`)
    const dependencies = { ...openStorage(context), events: {}, clock: systemClock }
    const counted = await withProgress(io, 'counting', () => replay(dependencies, tenantSlug, id, { include, ...period, dry_run: true }))
    if (counted?.queued === 0) {
      show(context, counted, 'there is nothing to replay\n')
      return 0
    }
    const { since = '24 hours ago', until = 'now' } = period
    await confirm(context, `Sends ${describeEvents(include, counted)} from ${since} to ${until} again, to ${text}.`)
    const result = await withProgress(io, 'queueing', () => replay(dependencies, tenantSlug, id, { include, ...period, dry_run: false }))
    const more = result?.truncated === true ? 'There are more: run the command again, with --include all from a later --since.\n' : ''
    show(context, result, `queued ${result?.queued} deliveries\n${more}`)
    return 0
  }
}

function describeEvents (include: string, counted: ReplaySummary | null): string {
  const events = `${include === 'all' ? '' : 'undelivered '}${counted?.queued === 1 ? 'event' : 'events'}`
  return `${counted?.truncated === true ? 'the oldest ' : ''}${counted?.queued} ${events}`
}

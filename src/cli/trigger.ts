import type { Client, EventType } from '../client/index.js'
import { findNearestName } from '../shared/read-options.js'
import { generateEventId } from '../webhooks/events/dispatcher.js'
import { type TestResult, postTest } from '../webhooks/sending/send-test.js'
import { type Context, type LocalCommand, UsageError } from './command.js'
import { forwardOptions, readReceiver, readSigningSecret, timeoutMs, withSender } from './forward.js'
import { type Service, callService, openService, serviceOptions } from './service.js'
import { formatRecord, showResult } from './terminal.js'

export const trigger: LocalCommand = {
  args: ['TYPE'],
  options: {
    ...serviceOptions,
    webhook: { value: 'ID', about: 'the service sends the test to this webhook' },
    ...forwardOptions,
    json: { value: null, about: 'writes the result as JSON' }
  },

  async runLocally (context) {
    const { io, flags, args: [type = ''] } = context
    const send = await readTarget(context)
    const result = await io.untilInterrupted(async (signal) => {
      const service = await openService(context, signal)
      return send(service, await callService(findEventType(service.client, type)), signal)
    })
    showResult({ io, flags }, result, formatRecord(result))
    return result.status === 'delivered' ? 0 : 1
  }
}

type Send = (service: Service, eventType: EventType, signal: AbortSignal) => Promise<TestResult>

async function readTarget (context: Pick<Context, 'io' | 'flags'>): Promise<Send> {
  const { io, flags } = context
  const webhookId = flags.integer('webhook', 1)
  const url = readReceiver(flags)
  if (webhookId !== undefined && url === null) {
    return ({ client }, { name }) =>
      callService(client.webhooks.test(webhookId, { event_type: name }), `--webhook: there is no webhook ${webhookId}`)
  }
  if (webhookId !== undefined || url === null) throw new UsageError('--webhook, --forward: add one of them')
  const secret = await readSigningSecret(context)
  if (secret === null) {
    throw new UsageError('--secret: missing, add the secret of your receiver or set RECRUITING_WEBHOOK_SECRET')
  }
  return ({ tenantSlug }, { name, example }, signal) => withSender(signal, (sender) => {
    if (example === null) throw new UsageError(`TYPE: ${name} has no example that fits its schema`)
    const target = {
      type: name,
      data: example,
      tenant: { slug: tenantSlug, id: tenantSlug },
      url,
      secrets: [secret],
      headers: {}
    }
    return postTest({ sender, clock: io }, target, generateEventId(io.now()), timeoutMs)
  })
}

/** Throws a `UsageError` that names the nearest type for an unknown one. */
async function findEventType (client: Client, name: string): Promise<EventType> {
  const known: string[] = []
  for await (const { data } of client.listEventTypes({ per_page: 200 })) {
    const found = data.find((one) => one.name === name)
    if (found !== undefined) return found
    known.push(...data.map((one) => one.name))
  }
  throw new UsageError(`TYPE: there is no event ${JSON.stringify(name)}, did you mean ${findNearestName(name, known)}?`)
}

import { ApiError, type Client, type Event, type EventType } from '../client/index.js'
import { omitUndefined } from '../shared/fields.js'
import { findNearestName } from '../shared/read-options.js'
import { generateEventId } from '../webhooks/events/dispatcher.js'
import { type TestResult, postTest } from '../webhooks/sending/send-test.js'
import type { SendResult, Sender } from '../webhooks/sending/sender.js'
import { generateSecret, signHeaders } from '../webhooks/sending/signature.js'
import { type Context, type Io, type LocalCommand, RefusedError, UsageError } from './command.js'
import {
  forwardOptions, readReceiver, readSigningSecret, timeoutMs, withSender, callService, describeFailure, isTemporary,
  openService, serviceOptions, type Service
} from './service.js'
import { writeJsonLine, writeLines, formatRecord, showResult } from './terminal.js'

type LocalContext = Pick<Context, 'io' | 'flags'>

export const listen: LocalCommand = {
  options: {
    ...serviceOptions,
    ...forwardOptions,
    types: { value: 'A,B', about: 'only events of these types; the default is all' },
    'from-oldest': {
      value: null,
      about: 'starts with the oldest event that the service keeps instead of the next one'
    },
    replay: { value: 'ID', about: 'sends the event with this id again, then exits' },
    every: { value: 'SECONDS', about: 'how often to ask for new events; the default is 2' },
    json: { value: null, about: 'writes each event as a line of JSON, with its data' }
  },

  async runLocally (context) {
    const { io, flags } = context
    const everyMs = 1000 * (flags.integer('every', 1, 3600) ?? 2)
    const url = readReceiver(flags)
    const secret = await readSigningSecret(context)
    return io.untilInterrupted(async (signal) => {
      const { client, tenantSlug } = await openService(context, signal)
      return withSender(signal, async (sender) => {
        const receiver = url === null ? null : { url, secret: secret ?? generateSecret(), sender }
        if (receiver !== null) {
          writeLines(io.err, [`sending to ${url}, signed with ${secret === null ? receiver.secret : 'your secret'}`])
        }
        const handle = (event: Event): Promise<boolean> => handleEvent(context, receiver, event)
        const id = flags.text('replay')
        if (id !== undefined) return (await handle(await callService(findEvent(client, id)))) ? 0 : 1
        await follow({
          io,
          client,
          signal,
          everyMs,
          handle,
          from: flags.has('from-oldest') ? 'oldest' : 'now',
          types: flags.optionalList('types'),
          greeting: `listening for events of ${tenantSlug}; press Ctrl-C to stop`
        })
        return 0
      })
    })
  }
}

async function findEvent (client: Client, id: string): Promise<Event> {
  const event = await client.findEvent(id)
  if (event !== null) return event
  throw new RefusedError(`--replay: the service has no event ${id}, or no longer keeps it`)
}

interface Receiver {
  url: string
  secret: string
  sender: Sender
}

/** Sends an event as the service does, and shows the result. Resolves to whether there is no fault. */
async function handleEvent ({ io, flags }: LocalContext, receiver: Receiver | null, event: Event): Promise<boolean> {
  const result = receiver === null ? null : await send(receiver, event, io.now())
  // The user ended the program.
  if (result?.error === 'aborted') return false
  if (flags.has('json')) writeJsonLine(io, { event, delivery: result })
  else {
    writeLines(io.out, [
      [event.timestamp, event.type.padEnd(25), event.id, ...(result === null ? [] : describeResult(result))].join('  ')
    ])
  }
  return result === null || result.error === null
}

interface Result extends Pick<SendResult, 'error'> {
  response_status: number | null
  duration_ms: number
}

async function send ({ url, secret, sender }: Receiver, event: Event, nowMs: number): Promise<Result> {
  const body = JSON.stringify(event)
  const { responseStatus, error, durationMs } = await sender.send({
    url,
    headers: signHeaders([secret], event.id, body, nowMs),
    body,
    timeoutMs
  })
  return { response_status: responseStatus, error, duration_ms: durationMs }
}

function describeResult ({ response_status: status, error, duration_ms: durationMs }: Result): string[] {
  return [String(status ?? error), `${durationMs} ms`]
}

interface Following {
  io: Io
  client: Client
  signal: AbortSignal
  everyMs: number
  handle: (event: Event) => Promise<unknown>
  from: 'oldest' | 'now'
  types: string[] | undefined
  /** Shown as soon as no event can be missed. */
  greeting: string
}

/** Handles events, in order, until the signal is aborted. Throws for failures that do not pass. */
async function follow ({ io, client, signal, everyMs, handle, from, types, greeting }: Following): Promise<void> {
  const filter = omitUndefined({ types })
  let token: string | null = null
  let start = from
  let last: string | null = null
  let isLost = false
  let shown = ''

  /** Shows a state once, however often it is met. */
  function show (state: string): void {
    if (state !== shown) writeLines(io.err, [state])
    shown = state
  }

  async function handleAll (events: readonly Event[]): Promise<void> {
    for (const event of events) {
      if (signal.aborted) return
      await handle(event)
      last = event.id
    }
  }

  async function read (): Promise<void> {
    if (isLost) await findPlace()
    for await (const { data } of client.events({
      ...filter,
      load: () => token,
      save: (next) => {
        token = next
      },
      from: start
    })) {
      show(greeting)
      await handleAll(data)
    }
  }

  /** Continues after the last event, which has another position now. */
  async function findPlace (): Promise<void> {
    token = null
    for await (const { data, meta } of last === null ? [] : client.events(filter)) {
      const place = data.findIndex(({ id }) => id === last)
      if (place === -1) continue
      show('the service no longer knows this position: continuing after the last event')
      await handleAll(data.slice(place + 1))
      token = meta.next_token
      isLost = false
      return
    }
    isLost = false
    start = from
    show(
      `the service no longer knows this position: some events may have been missed; continuing with ${from === 'now' ? 'new ones' : 'the oldest one that it keeps'}`
    )
  }

  /** Returns how long to wait before the next request. */
  function handleFailure (error: unknown): number {
    if (signal.aborted) return 0
    const text = describeFailure(error)
    if (text === null) throw error
    const hadPosition = token !== null || isLost
    if (hadPosition && error instanceof ApiError && error.code === 'sync_token_expired') {
      isLost = true
      return 0
    }
    if (!isTemporary(error)) throw new RefusedError(text)
    show(text)
    return error instanceof ApiError ? error.retryAfterMs ?? 0 : 0
  }

  while (!signal.aborted) {
    const waitMs = await read().then(() => 0, handleFailure)
    await io.sleep(Math.max(everyMs, waitMs), signal)
  }
}

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

import type { Static, TObject, TSchema } from '@sinclair/typebox'
import type * as sdkModule from '@modelcontextprotocol/server'
import type { Server } from '@modelcontextprotocol/server'
import { type EventSchemas, splitEvent } from '../../core/api/catalogue.js'
import { filterRules } from '../../core/api/parameters.js'
import type { SubscriptionKey, SubscriptionRequest } from '../../core/api/subscriptions.js'
import { compileSchema, createAjv, describeFault, formatFaultPath } from '../../core/shared/ajv.js'
import { EventsFault, eventsErrors, formatOccurrence } from '../../core/shared/events-wire.js'
import { omitUndefined } from '../../core/shared/fields.js'
import { Nullable, Type } from '../../core/shared/typebox.js'
import type { CallAnswer, CallOptions } from './calls.js'
import { dataWarning } from './result.js'

export type EventTypes = ReturnType<typeof describeEvents>

type Scalar = string | number | boolean | null

/** The arguments of a subscription: the fields of `data`, each with a value or several. */
type Arguments = Record<string, Scalar | Scalar[]>

/** Returns the event types as agents see them, by name. */
export function describeEvents (events: EventSchemas, delivery: readonly string[]) {
  return new Map(Object.entries(events).map(([name, event]) => {
    const { schema } = splitEvent(event)
    const description = `${schema.description ?? name}. ${dataWarning.replace('Tool results', 'Events')}`
    return [name, { name, description, delivery, inputSchema: describeArguments(schema), payloadSchema: schema }]
  }))
}

/** Keywords of a field that describe its values. The others are about documents. */
const kept = ['type', 'const', 'enum', 'anyOf', 'oneOf']
const scalarTypes = ['string', 'number', 'integer', 'boolean', 'null']

/**
 * Returns the schema of the arguments: the published scalars of `data`. Agents cannot filter by other fields, because a
 * filter that matches reveals a value.
 */
function describeArguments ({ properties }: TObject) {
  const entries = Object.entries<TSchema>(properties).filter(([name, field]) => {
    return isScalar(field) && field['x-mcp-filter'] !== false && /^[^.\p{Cc}]{1,64}$/u.test(name)
  })
  return Type.Object(
    Object.fromEntries(entries.map(([name, field]) => {
      const value = Object.fromEntries(Object.entries(field).filter(([keyword]) => kept.includes(keyword)))
      const one = Object.keys(value).length === 0 ? { type: ['string', 'number', 'boolean'] } : value
      const several = { type: 'array', minItems: 1, maxItems: 50, items: one }
      const described = omitUndefined({ description: field.description as string | undefined })
      return [name, Type.Optional(Type.Unsafe({ ...described, anyOf: [one, several] }))]
    })),
    { additionalProperties: false, maxProperties: 10 }
  )
}

function isScalar ({ type, anyOf, oneOf, ...others }: TSchema): boolean {
  const choices: TSchema[] | undefined = anyOf ?? oneOf
  if (choices !== undefined) return choices.every(isScalar)
  if (type !== undefined) return [type].flat().every((name) => scalarTypes.includes(name))
  return ['$ref', 'allOf', 'not', 'properties', 'items', 'patternProperties'].every((keyword) => !(keyword in others))
}

const PollParams = Type.Object({
  name: Type.String(),
  arguments: Type.Optional(Nullable(Type.Unsafe<Arguments>({ type: 'object' }))),
  cursor: Type.Optional(Nullable(Type.String())),
  maxAgeMs: Type.Optional(Nullable(Type.Integer({ minimum: 0 }))),
  maxEvents: Type.Optional(Nullable(Type.Integer({ minimum: 1 })))
})

/** The filters that arguments become. A value of an argument can be longer than a filter's. */
const Filters = Type.Unsafe<Record<string, Scalar[]>>({ type: 'object', ...filterRules })

let ajv: ReturnType<typeof createAjv> | null = null

/** Returns the value if it matches. Paths in the error begin with `at`. */
function readParams<Schema extends TSchema> (schema: Schema, value: unknown, at = ''): Static<Schema> {
  ajv ??= createAjv({ useDefaults: false })
  const validate = compileSchema(ajv, schema)
  if (validate(value)) return value as Static<Schema>
  const fault = validate.errors?.at(-1)
  const field = fault === undefined ? '' : [at, formatFaultPath(fault)].filter((part) => part !== '').join('.')
  throw new EventsFault('InvalidParams', `${field} ${fault === undefined ? '' : describeFault(fault)}`.trim())
}

/** How long an agent waits before the next poll. */
const nextPollMs = 10_000
const [usualPage, maxPage] = [100, 200]

const Delivery = Type.Object({ url: Type.String(), mode: Type.Optional(Type.String()) })

const UnsubscribeParams = Type.Object({
  name: PollParams.properties.name, arguments: PollParams.properties.arguments, delivery: Delivery
})

const SubscribeParams = Type.Object({
  ...UnsubscribeParams.properties,
  cursor: PollParams.properties.cursor,
  maxAgeMs: PollParams.properties.maxAgeMs,
  ttlMs: Type.Optional(Nullable(Type.Unsafe<number>({ type: 'number' }))),
  delivery: Type.Object({ ...Delivery.properties, secret: Type.String() })
})

/** The subscriptions of one agent, or of all if a request says `Who`. */
export interface Subscribing<Who = unknown> {
  subscribe (request: SubscriptionRequest & Who): Promise<{ id: string }>
  /** Returns the id of the subscription that ended; `null` if there was none. */
  unsubscribe (key: SubscriptionKey & Who): Promise<string | null>
}

export interface EventsParts {
  sdk: typeof sdkModule
  types: EventTypes
  /** Whether the caller can read events. */
  isAllowed: boolean
  /** `null` if agents can only poll. */
  subscribing: Subscribing | null
  /** Returns the protocol error for an unexpected error, which it logs. */
  fail (error: unknown): Error
  /** Reads a page of events. */
  list (query: object, options: CallOptions): Promise<CallAnswer>
}

/** Serves the methods of the extension for one message. */
export function serveEvents (server: Server, { sdk, types, isAllowed, subscribing, list, fail }: EventsParts): void {
  function handle (method: string, respond: (params: object) => object | Promise<object>): void {
    server.setRequestHandler(method, { params: anyParams }, async (params) => {
      try {
        return { resultType: 'complete', ...await respond(params ?? {}) }
      } catch (error) {
        if (!(error instanceof EventsFault)) throw fail(error)
        throw new sdk.ProtocolError(eventsErrors[error.code], error.message, error.data)
      }
    })
  }

  /** Returns the filters of a subscription. */
  function readFilters (name: string, given: Arguments): Record<string, Scalar[]> | null {
    const type = types.get(name)
    if (type === undefined) throw new EventsFault('NotFound', `Unknown event ${name}`, { kind: 'event' })
    readParams(type.inputSchema, given, 'arguments')
    const entries = Object.entries(given).map(([field, values]) => [`data.${field}`, [values].flat()] as const)
    return entries.length === 0 ? null : readParams(Filters, Object.fromEntries(entries))
  }

  handle('events/list', (params) => {
    const { cursor = null } = params as { cursor?: unknown }
    if (cursor !== null) throw new EventsFault('InvalidParams', 'cursor is not valid: all events are in one page')
    return { events: isAllowed ? [...types.values()] : [] }
  })

  handle('events/poll', async (params) => {
    const { name, arguments: given, cursor = null, maxAgeMs = null, maxEvents } = readParams(PollParams, params)
    const filters = readFilters(name, given ?? {})
    const { status, text } = await list({
      // Other text is no token.
      token: cursor === null ? 'now' : /^[\w.-]{1,512}$/.test(cursor) ? cursor : '-',
      per_page: Math.min(maxEvents ?? usualPage, maxPage),
      filter: { event_type: name, data: filters }
    }, { resume: { since: readSince(cursor, maxAgeMs) } })
    if (status !== 200) throw new Error(`the list of events got ${status}`)
    const { data, meta } = JSON.parse(text) as { data: unknown[], meta: PageMeta }
    return {
      events: data.map((event) => formatOccurrence(event)).filter((event) => event !== null),
      cursor: meta.next_token,
      truncated: meta.truncated === true,
      hasMore: meta.has_more,
      nextPollMs
    }
  })

  if (subscribing === null) return

  function readKey ({ name, arguments: given, delivery: { url, mode } }: Static<typeof UnsubscribeParams>) {
    if (mode !== undefined && mode !== 'webhook') {
      throw new EventsFault('Unsupported', `Unknown mode ${mode}`, { feature: 'deliveryMode', value: mode })
    }
    return { eventType: name, filters: readFilters(name, given ?? {}), url }
  }

  handle('events/subscribe', async (params) => {
    const given = readParams(SubscribeParams, params)
    const { delivery: { secret }, cursor = null, maxAgeMs = null, ttlMs = null } = given
    return subscribing.subscribe({ ...readKey(given), secret, cursor, since: readSince(cursor, maxAgeMs), ttlMs })
  })

  handle('events/unsubscribe', async (params) => {
    const ended = await subscribing.unsubscribe(readKey(readParams(UnsubscribeParams, params)))
    if (ended === null) throw new EventsFault('NotFound', 'Unknown subscription', { kind: 'subscription' })
    return {}
  })
}

/** Returns the time from which an agent wants events. */
function readSince (cursor: string | null, maxAgeMs: number | null): string | null {
  return cursor === null || maxAgeMs === null ? null : new Date(Math.max(0, Date.now() - maxAgeMs)).toISOString()
}

interface PageMeta { next_token: string, has_more: boolean, truncated?: boolean }

/** Accepts all parameters, which are checked later. */
const anyParams = {
  '~standard': {
    version: 1, vendor: 'fastify-recruiting-api', validate: (value: unknown) => ({ value: value as object })
  }
} as const

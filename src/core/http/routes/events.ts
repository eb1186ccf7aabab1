import type { FastifyRequest } from 'fastify'
import type { EventFeed } from '../../ports/index.js'
import { DateTimeOf, Nullable, Type } from '../../shared/typebox.js'
import type { EventSchemas } from '../../webhooks/events/catalogue.js'
import { operation } from '../../webhooks/operation-table.js'
import type { WebhookOperations } from '../../webhooks/operations.js'
import { eventIdExample } from '../../webhooks/schemas.js'
import { stateOf } from '../request.js'
import { tokenQuery } from '../schemas.js'
import { createTokens, expired } from '../tokens.js'
import { badRequest } from '../wire-errors.js'
import { isStorableText } from '../../shared/text.js'
import { parseDateTime } from '../input.js'
import type { ApiOperation } from './operations.js'

/** The query of the feed. An invalid token gets 410. */
const FeedQuery = Type.Object(
  {
    ...tokenQuery(
      '`next_token` of the previous page, with the same filter. Omit it to begin with the oldest stored event, ' +
      'or send `now` to begin with new events',
      'now'
    ),
    since: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'Begins with the first event recorded at this time or later. Only without `token`',
        examples: ['2026-03-01T00:00:00Z']
      })
    ),
    'filter[event_type]': Type.Optional(
      Type.String({
        description: 'Only events of these types, separated by commas, at most 100',
        examples: ['application.created,application.hired']
      })
    )
  },
  { additionalProperties: false }
)

export const Event = Type.Object(
  {
    id: Type.String({ description: 'The same as in webhook notifications', examples: [eventIdExample] }),
    type: Type.String({ examples: ['application.created'] }),
    timestamp: DateTimeOf('When it happened'),
    tenant_slug: Type.String({ description: "The tenant's name when the event was recorded", examples: ['acme'] }),
    data: Nullable(
      Type.Object(
        {},
        {
          description: "Described by the event type; null after the event's subject was erased",
          additionalProperties: true,
          examples: [{ id: 1 }]
        }
      )
    ),
    erased: Type.Optional(Type.Literal(true, { description: "Present only after the event's subject was erased" }))
  },
  { title: 'Event', description: 'An event as webhooks receive it' }
)

const description = [
  'Returns the events that webhooks receive. You need no webhook.',
  'Begin without `token`, with `since`, or with the token `now`. While `has_more` is true, send `next_token` as the ' +
    'next `token`. Store the last token to continue later: you get each event exactly once. A page can be empty.',
  'Events are in the order in which the service recorded them. Test notifications and replays are not listed.',
  'After a 410, begin again: the token is older than the oldest stored event, or not valid for this filter.'
].join(' ')

/** Returns the operations that read a tenant's events. */
export function eventOperations (
  feed: EventFeed, events: EventSchemas, operations: Pick<WebhookOperations, 'listUsedEventTypes'>
): ApiOperation[] {
  const tokens = createTokens(feed)
  const common = {
    method: 'GET', tag: 'events', scopes: ['webhooks:read'], capabilities: ['bodies'], item: Event
  } as const

  /** Throws a 400 for a type outside the catalogue, unless the client already reads it or subscribes. */
  async function assertUsable (types: readonly string[], tenant: string, isBegun: boolean): Promise<void> {
    if (isBegun || types.every((type) => Object.hasOwn(events, type))) return
    const used = await operations.listUsedEventTypes({ id: tenant })
    if (types.every((type) => Object.hasOwn(events, type) || used.has(type))) return
    const message = 'must be event types of the catalogue, separated by commas'
    throw badRequest({ in: 'query', field: 'filter[event_type]', message })
  }

  return [
    operation({
      ...common,
      operationId: 'listEvents',
      path: '/events',
      summary: 'Read the events, in order',
      description,
      input: FeedQuery,
      shape: 'follow',
      results: { 200: 'A page of events' },
      async run (request: FastifyRequest, { tenant: { id: tenant }, input }) {
        const { token, since, per_page: limit, 'filter[event_type]': filter } = input
        if (token !== undefined && since !== undefined) {
          throw badRequest({ in: 'query', field: 'since', message: 'must not be given together with token' })
        }
        const from = since === undefined ? null : parseDateTime('since', since)
        const eventTypes = filter === undefined ? null : parseEventTypes(filter)
        const subject = `event\n${tenant}\n${eventTypes?.join() ?? ''}`
        const isBegun = token !== undefined && token !== 'now' && await tokens.isValid(subject, token)
        await assertUsable(eventTypes ?? [], tenant, isBegun)
        if (token === 'now') return formatPage([], await tokens.format(subject, [await feed.end(tenant)]), false)
        const [after = null] = from === null
          ? await tokens.read(subject, token) ?? []
          : [await feed.endBefore(tenant, from)]
        const state = stateOf(request)
        // One event is enough to know the response's status.
        state.isShortened = request.method === 'HEAD'
        const { bodies, position, hasMore } = await feed.list(tenant, {
          after,
          limit: state.isShortened ? 1 : limit,
          eventTypes,
          ...state.maxEventsBytes === null ? {} : { maxBytes: state.maxEventsBytes }
        }) ?? expired()
        // Bodies are JSON, and are sent as they are stored.
        state.serialize = (payload) => {
          const { data, meta } = payload as ReturnType<typeof formatPage>
          return `{"data":[${data.join()}],"meta":${JSON.stringify(meta)}}`
        }
        return formatPage(bodies, await tokens.format(subject, [position]), hasMore)
      }
    }),
    {
      ...common,
      operationId: 'getEvent',
      path: '/events/:id',
      summary: 'Get an event',
      description: 'Returns an event that is still stored, as `GET …/events` does.',
      params: Type.Object({ id: Type.String({ description: 'The id of the event', examples: [eventIdExample] }) }),
      shape: 'one',
      results: { 200: 'The event' },
      resource: 'event',
      hasBody: true,
      async run (request, { tenant, id, omitBody }) {
        stateOf(request).serialize = (payload) => `{"data":${(payload as { data: string }).data}}`
        return isStorableText(String(id)) ? feed.find(tenant.id, String(id), { omitBody }) : null
      }
    }
  ]
}

function formatPage (data: readonly string[], token: string, hasMore: boolean) {
  return { data, meta: { next_token: token, has_more: hasMore } }
}

const maxEventTypes = 100

/** Returns the unique event types of a filter, sorted. */
function parseEventTypes (text: string): string[] {
  const types = text.split(',')
  const field = 'filter[event_type]'
  if (types.length > maxEventTypes) {
    throw badRequest({ in: 'query', field, message: `must be at most ${maxEventTypes} event types` })
  }
  return [...new Set(types)].sort()
}

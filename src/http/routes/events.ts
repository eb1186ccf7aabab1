import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { EventFeed } from '../../ports/index.js'
import { DateTimeOf, Nullable } from '../../shared/schemas.js'
import type { EventSchemas } from '../../webhooks/events/catalogue.js'
import type { WebhookOperations } from '../../webhooks/operations.js'
import { eventIdExample } from '../../webhooks/schemas/event-type.js'
import { readTenant } from '../request.js'
import { errorResponses, SyncTokenExpired } from '../schemas/errors.js'
import { DataOf, TokenMeta, tokenQuery } from '../schemas/parameters.js'
import { createTokens, expired } from '../tokens.js'
import { badRequest, HttpError } from '../wire-errors.js'
import { isStorableText } from '../../shared/text.js'
import { Type } from '../../shared/typebox.js'
import { parseDateTime } from '../input/query.js'
import { found } from '../responses/rows.js'

/** The query of the feed. Any other text as token is a 410. */
const FeedQuery = Type.Object(
  {
    ...tokenQuery(
      '`next_token` of the page before, with the same filter. Absent to begin with the oldest event that is kept; `now` for the events from now on',
      'now'
    ),
    since: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'Begins with the first event that was recorded at this time or later. Only without `token`',
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
    id: Type.String({ description: 'The same as in the notifications of webhooks', examples: [eventIdExample] }),
    type: Type.String({ examples: ['application.created'] }),
    timestamp: DateTimeOf('When it happened'),
    tenant_slug: Type.String({ description: 'The name of the tenant when it was recorded', examples: ['acme'] }),
    data: Nullable(
      Type.Object(
        {},
        {
          description: 'As the event type describes it; null once its subject was erased',
          additionalProperties: true,
          examples: [{ id: 1 }]
        }
      )
    ),
    erased: Type.Optional(Type.Literal(true, { description: 'Present only once the subject of the event was erased' }))
  },
  { title: 'Event', description: 'An event as webhooks receive it' }
)

const FeedPage = Type.Object({ data: Type.Array(Event), meta: TokenMeta }, { description: 'A page of events' })

const description = [
  'Returns the events that your webhooks receive. You need no webhook for it.',
  'Begin without `token`, with `since`, or with the token `now`. Send `next_token` as `token` while `has_more` is ' +
    'true, then keep the last one and come back with it: you miss no event, and get each once. A page may be empty.',
  'Events come in the order in which the service stored them. Test notifications and replays are not events of their own.',
  'With a 410, begin again: the token is older than the events that are kept, or not valid for this filter.'
].join(' ')

/** The routes that read the events of a tenant. */
export function eventRoutes (
  feed: EventFeed, events: EventSchemas, operations: Pick<WebhookOperations, 'listUsedEventTypes'>
): FastifyPluginAsyncTypebox {
  return async (app) => {
    const tokens = createTokens(feed)

    /** Throws a 400 for a type outside the catalogue, unless the client has read the feed with it or subscribes. */
    async function assertUsable (types: readonly string[], tenant: string, isBegun: boolean): Promise<void> {
      if (isBegun || types.every((type) => Object.hasOwn(events, type))) return
      const used = await operations.listUsedEventTypes({ id: tenant })
      if (types.every((type) => Object.hasOwn(events, type) || used.has(type))) return
      const message = 'must be event types of the catalogue, separated by commas'
      throw badRequest({ in: 'query', field: 'filter[event_type]', message })
    }

    app.get(
      '/events',
      {
        exposeHeadRoute: true,
        config: { scopes: ['webhooks:read'], capabilities: ['bodies'] },
        schema: {
          operationId: 'listEvents',
          tags: ['events'],
          summary: 'Read the events, in order',
          description,
          querystring: FeedQuery,
          response: { 200: FeedPage, ...errorResponses, 410: SyncTokenExpired }
        }
      },
      async (request) => {
        const { id: tenant } = readTenant(request)
        const { token, since, per_page: limit, 'filter[event_type]': filter } = request.query
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
        const { bodies, position, hasMore } = (await feed.list(tenant, { after, limit, eventTypes })) ?? expired()
        return formatPage(bodies, await tokens.format(subject, [position]), hasMore)
      }
    )

    app.get('/events/:id', {
      exposeHeadRoute: true,
      config: { scopes: ['webhooks:read'], capabilities: ['bodies'], resource: 'event' },
      schema: {
        operationId: 'getEvent',
        tags: ['events'],
        summary: 'Get an event',
        description: 'Returns an event that the service still keeps, as `GET …/events` does.',
        params: Type.Object({ id: Type.String({ description: 'The id of the event', examples: [eventIdExample] }) }),
        response: { 200: DataOf(Event, 'The event'), ...errorResponses }
      }
    }, async (request) => {
      const { id } = request.params
      if (!isStorableText(id)) throw new HttpError('not_found')
      return { data: JSON.parse(found(await feed.find(readTenant(request).id, id))) }
    })
  }
}

function formatPage (bodies: readonly string[], token: string, hasMore: boolean) {
  return { data: bodies.map((body) => JSON.parse(body)), meta: { next_token: token, has_more: hasMore } }
}

const maxEventTypes = 100

/** Returns the event types of a filter, sorted, each once. */
function parseEventTypes (text: string): string[] {
  const types = text.split(',')
  const field = 'filter[event_type]'
  if (types.length > maxEventTypes) {
    throw badRequest({ in: 'query', field, message: `must be at most ${maxEventTypes} event types` })
  }
  return [...new Set(types)].sort()
}

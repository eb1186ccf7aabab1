import type { EventSchemas } from '../../api/catalogue.js'
import { eventOperations } from '../../api/events.js'
import type { EventFeed, Tenant } from '../../ports/index.js'
import { isStorableText } from '../../shared/text.js'
import { parseDateTime } from '../input.js'
import { stateOf } from '../request.js'
import { createTokens, expired } from '../tokens.js'
import { badRequest } from '../wire-errors.js'
import { type ApiOperation, perform } from './operations.js'

/** Returns the operations that read a tenant's events. */
export function listEventOperations (
  feed: EventFeed, events: EventSchemas, listUsedEventTypes: (tenant: Pick<Tenant, 'id'>) => Promise<ReadonlySet<string>>
): ApiOperation[] {
  const tokens = createTokens(feed)

  /** Throws a 400 for a type outside the catalogue, unless the client already reads it or subscribes. */
  async function assertUsable (types: readonly string[], tenant: string, isBegun: boolean): Promise<void> {
    if (isBegun || types.every((type) => Object.hasOwn(events, type))) return
    const used = await listUsedEventTypes({ id: tenant })
    if (types.every((type) => Object.hasOwn(events, type) || used.has(type))) return
    const message = 'must be event types of the catalogue, separated by commas'
    throw badRequest({ in: 'query', field: 'filter[event_type]', message })
  }

  return perform(eventOperations, {
    async list ({ tenant: { id: tenant }, input }, request) {
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
    },
    async find ({ tenant, id, omitBody }, request) {
      stateOf(request).serialize = (payload) => `{"data":${(payload as { data: string }).data}}`
      return isStorableText(String(id)) ? feed.find(tenant.id, String(id), { omitBody }) : null
    }
  })
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

import type { EventSchemas } from '../../api/catalogue.js'
import { eventOperations } from '../../api/events.js'
import type { FeedPage, Tenant } from '../../ports/index.js'
import { feedSubject, findStart } from '../../shared/feed.js'
import { isStorableText } from '../../shared/text.js'
import { parseDateTime } from '../input.js'
import { stateOf } from '../request.js'
import type { Followed } from '../sync.js'
import { badRequest, expired } from '../wire-errors.js'
import { type ApiOperation, perform } from './operations.js'

export function listEventOperations (
  { source: feed, tokens }: NonNullable<Followed['feed']>, events: EventSchemas,
  listUsedEventTypes: (tenant: Pick<Tenant, 'id'>) => Promise<ReadonlySet<string>>
): ApiOperation[] {
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
      const { token, since, per_page: limit, 'filter[event_type]': types, 'filter[data]': data = {} } = input
      if (token !== undefined && since !== undefined) {
        throw badRequest({ in: 'query', field: 'since', message: 'must not be given together with token' })
      }
      const from = since === undefined ? null : parseDateTime('since', since)
      const eventTypes = types === undefined ? null : parseEventTypes(types)
      const filters = Object.keys(data).length === 0 ? null : data
      const subject = feedSubject(tenant, eventTypes, filters)
      const read = async (subject: string) =>
        token === undefined || token === 'now' ? null : await tokens.read(subject, token)
      const own = await read(subject)
      await assertUsable(eventTypes ?? [], tenant, own !== null)
      if (token === 'now') return formatPage([], await tokens.format(subject, [await feed.end(tenant)]), false)
      const state = stateOf(request)
      // One event is enough to know the response's status.
      state.isShortened = request.method === 'HEAD'
      const list = (after: string | null): Promise<FeedPage | null> => feed.list(tenant, {
        after,
        limit: state.isShortened ? 1 : limit,
        eventTypes,
        filters,
        ...state.maxEventsBytes === null ? {} : { maxBytes: state.maxEventsBytes }
      })
      const { resume } = state
      // A token of all events is also valid for some of them.
      const begun = own ?? await read(feedSubject(tenant, null))
      let after = from === null ? begun?.[0] ?? null : await feed.endBefore(tenant, from)
      const isLost = token !== undefined && begun === null
      if (isLost && resume === null) expired()
      let page = isLost || (resume?.since ?? null) !== null ? null : await list(after)
      let isTruncated = false
      if (page === null && resume !== null) {
        ({ position: after, isTruncated } = await findStart(feed, tenant, { after, ...resume, eventTypes, filters }))
        page = await list(after)
      }
      const { bodies, position, hasMore } = page ?? expired()
      // Bodies are JSON, and are sent as they are stored.
      state.serialize = (payload) => {
        const { data, meta } = payload as ReturnType<typeof formatPage>
        return `{"data":[${data.join()}],"meta":${JSON.stringify(meta)}}`
      }
      const more = resume === null ? {} : { truncated: isTruncated }
      return formatPage(bodies, await tokens.format(subject, [position]), hasMore, more)
    },
    async find ({ tenant, id, omitBody }, request) {
      stateOf(request).serialize = (payload) => `{"data":${(payload as { data: string }).data}}`
      return isStorableText(String(id)) ? feed.find(tenant.id, String(id), { omitBody }) : null
    }
  })
}

function formatPage (data: readonly string[], token: string, hasMore: boolean, more: { truncated?: boolean } = {}) {
  return { data, meta: { next_token: token, has_more: hasMore, ...more } }
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

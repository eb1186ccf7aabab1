import { randomBytes } from 'node:crypto'
import type { EventFeed, FeedQuery } from '../../core/ports/index.js'
import { createFilterTest } from '../../core/shared/fields.js'
import type { EventRecord } from './deliveries/records.js'
import { formatPosition, type WebhookData } from './webhook-data.js'

/** A page ends before the event that takes the bodies over this size. */
const maxPageBytes = 4 * 1024 * 1024

/** Reads events in the order they were recorded. */
export function createEventFeed (data: WebhookData): EventFeed {
  const secret = randomBytes(32)

  /** Returns the number of a position; `null` if events after it may be missing. */
  function parsePosition (tenant: string, position: string): number | null {
    const number = Number(/\d+$/.exec(position)?.[0])
    const isOwn = position === formatPosition(data, tenant, number)
    return isOwn && number >= data.prunedEventPosition && number <= data.lastEventPosition ? number : null
  }

  function find (
    tenant: string, { eventTypes, filters = null }: Pick<FeedQuery, 'eventTypes' | 'filters'> = { eventTypes: null }
  ): EventRecord[] {
    return [...data.events.values()].filter(({ tenant: owner, event: { type, body } }) => {
      const isWanted = owner === tenant && (eventTypes === null || eventTypes.includes(type))
      return isWanted && createFilterTest(body)(filters)
    })
  }

  return {
    async end (tenant) {
      return formatPosition(data, tenant, data.lastEventPosition)
    },

    async endBefore (tenant, since, after) {
      const first = find(tenant).find(({ recordedAt }) => recordedAt >= Date.parse(since))
      const position = (first?.position ?? data.lastEventPosition + 1) - 1
      const least = after === undefined ? null : parsePosition(tenant, after)
      return formatPosition(data, tenant, Math.max(position, least ?? 0, data.prunedEventPosition))
    },

    async find (tenant, id, { omitBody = false } = {}) {
      const record = data.events.get(id)
      if (record?.tenant !== tenant) return null
      return omitBody ? '' : record.event.body
    },

    async list (tenant, { after, limit, maxBytes = maxPageBytes, ...selected }) {
      const number = after === null ? data.prunedEventPosition : parsePosition(tenant, after)
      if (number === null) return null
      const found = find(tenant, selected).filter(({ position }) => position > number)
      let bytes = 0
      const page = found.slice(0, limit).filter(({ event: { body } }, index) => {
        bytes += Buffer.byteLength(body)
        return index === 0 || bytes <= Math.min(maxBytes, maxPageBytes)
      })
      const hasMore = found.length > page.length
      const last = hasMore ? page.at(-1) : undefined
      return {
        bodies: page.map(({ event: { body } }) => body),
        position: formatPosition(data, tenant, last?.position ?? data.lastEventPosition),
        hasMore
      }
    },

    async latest (tenant, { limit, ...selected }) {
      let bytes = 0
      return find(tenant, selected).toReversed().slice(0, limit).map(({ event: { body } }) => body).filter((body) => {
        bytes += Buffer.byteLength(body)
        return bytes <= maxPageBytes
      })
    },

    async stats () {
      return { heldBackMs: 0, heldBackBy: null }
    },

    async tokenSecret () {
      return secret
    }
  }
}

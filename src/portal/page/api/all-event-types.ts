import type { Api } from './api.js'
import type { Result } from './failure.js'
import type { EventType } from './types.js'

/** Reads the whole catalogue, page by page. */
export async function allEventTypes (api: Pick<Api, 'listEventTypes'>, signal: AbortSignal): Promise<Result<EventType[]>> {
  const types: EventType[] = []
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { value, failure } = await api.listEventTypes({ page, per_page: 200 }, signal)
    if (failure !== null) return { value: null, failure }
    types.push(...value.data)
    pages = value.meta.total_pages
  }
  return { value: types, failure: null }
}

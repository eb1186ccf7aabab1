import type { Versions } from './world.js'

interface Item { id: number, version: number, updated_at: string }

interface ListPage {
  data: Item[]
  meta: { total_pages: number }
}

/** Reads a list to its end, page by page. */
async function readPages (url: string, key: string, query: Record<string, string>): Promise<Item[]> {
  const items: Item[] = []
  for (let page = 1; ; page++) {
    const parameters = new URLSearchParams({ ...query, per_page: '50', page: String(page) })
    const answer = await fetch(`${url}?${parameters}`, { headers: { authorization: `Bearer ${key}` } })
    if (!answer.ok) throw new Error(`list got ${answer.status}`)
    const { data, meta } = await answer.json() as ListPage
    items.push(...data)
    if (page >= meta.total_pages) return items
  }
}

/** Creates a client that polls for rows updated after the latest known update. */
export function createUpdatedAfter (): { items: Versions, poll (url: string, key: string): Promise<void> } {
  const items: Versions = new Map()
  let after: string | null = null
  return {
    items,
    async poll (url, key) {
      const updated = await readPages(url, key, { sort: 'updated_at', ...after === null ? {} : { 'filter[updated_after]': after } })
      for (const item of updated) items.set(item.id, item.version)
      after = updated.map((item) => item.updated_at).toSorted().at(-1) ?? after
    }
  }
}

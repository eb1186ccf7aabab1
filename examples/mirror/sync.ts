/** A page's item, in the field with the name of its kind, such as `candidate`; `null` if it was deleted. */
export interface SyncItem {
  id: number | string
  deleted: boolean
  [kind: string]: unknown
}

export interface SyncPage {
  data: SyncItem[]
  meta: { next_token: string, has_more: boolean, events_token?: string }
}

/** Your copy of a list, in a database with transactions. */
export interface Copy {
  /** The last saved `next_token`; `null` before the first page. */
  readonly token: string | null
  /**
   * Saves the items and `next_token` in one transaction. If `has_more` is false, it also deletes items that were not
   * in a page since `beginAgain`.
   */
  save (page: SyncPage): void | Promise<void>
  /** Removes the token. The items stay until the first sync without it is complete. */
  beginAgain (): void | Promise<void>
}

export interface Source {
  /** Ends in `/sync`, such as `…/candidates/sync`. */
  url: string
  key: string
  /** @default 200 */
  perPage?: number
}

/** Updates a copy. After an error, call it again. Never let two calls write to the same copy at once. */
export async function sync ({ url, key, perPage = 200 }: Source, copy: Copy): Promise<void> {
  for (let hasMore = true; hasMore;) {
    const query = new URLSearchParams({
      per_page: String(perPage),
      ...(copy.token === null ? {} : { token: copy.token })
    })
    const answer = await fetch(`${url}?${query}`, { headers: { authorization: `Bearer ${key}` } })
    if (answer.status === 410) {
      await copy.beginAgain()
      continue
    }
    if (!answer.ok) throw new Error(`sync got ${answer.status}`)
    const page = await answer.json() as SyncPage
    await copy.save(page)
    hasMore = page.meta.has_more
  }
}

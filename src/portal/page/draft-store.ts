import type { Draft } from './draft.js'
import type { FilterDraft } from './filters.js'

/** The stored part of a draft: without the values of headers, which may be secrets. */
type KeptDraft = Omit<Draft, 'headers'> & { headerNames: readonly string[] | null }

/** Keeps drafts of forms in this tab, for the next session and for a page that is loaded again. */
export interface DraftStore {
  /** Returns the draft of a form with the headers of `initial`, unless others were entered; `null` without a draft. */
  find (form: string, initial: Draft): Draft | null
  keep (form: string, draft: Draft): void
  drop (form: string): void
}

/** The storage of a tab. */
interface TabStorage {
  getItem (key: string): string | null
  setItem (key: string, text: string): void
  removeItem (key: string): void
}

interface DraftStoreParts {
  tab: TabStorage
  /** Separates this API and tenant from others on the same origin. */
  scope: string
  /** Milliseconds since 1970. */
  now (): number
}

/** As long as a session lasts at most. */
const keptMs = 3_600_000

export function createDraftStore ({ tab, scope, now }: DraftStoreParts): DraftStore {
  const keyOf = (form: string) => `recruiting-webhooks:draft:${scope}:${form}`
  return {
    find (form, initial) {
      const kept = parse(tab.getItem(keyOf(form)))
      return kept === null || now() - kept.at > keptMs ? null : restore(kept.draft, initial)
    },
    keep (form, { headers, ...draft }) {
      const kept: KeptDraft = { ...draft, headerNames: headers?.map(({ name }) => name) ?? null }
      try {
        tab.setItem(keyOf(form), JSON.stringify({ at: now(), draft: kept }))
      } catch {
        // Full. The form itself still has everything.
      }
    },
    drop: (form) => tab.removeItem(keyOf(form))
  }
}

function restore ({ headerNames, ...draft }: KeptDraft, { headers }: Draft): Draft {
  const isSame = headerNames === null || headerNames.length === 0
  return { ...draft, headers: isSame ? headers : headerNames.map((name) => ({ name, value: '' })) }
}

/** The host's scripts can write there too. */
function parse (text: string | null): { at: number, draft: KeptDraft } | null {
  try {
    const { at, draft: { name, targetUrl, eventTypes, headerNames, filters } } = JSON.parse(text ?? '')
    const isDraft =
      typeof at === 'number' &&
      typeof name === 'string' &&
      typeof targetUrl === 'string' &&
      isTexts(eventTypes) &&
      (headerNames === null || isTexts(headerNames)) &&
      isFilters(filters)
    return isDraft ? { at, draft: { name, targetUrl, eventTypes, headerNames, filters } } : null
  } catch {
    return null
  }
}

function isFilters (value: unknown): value is FilterDraft[] {
  return Array.isArray(value) && value.every((item) => isTexts([item?.path, item?.values]))
}

function isTexts (value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

const memory = new Map<string, string>()

const inMemory: TabStorage = {
  getItem: (key) => memory.get(key) ?? null,
  setItem: (key, text) => { memory.set(key, text) },
  removeItem: (key) => { memory.delete(key) }
}

/**
 * Returns the storage of the tab, or the memory of the page where the browser refuses it, as in frames of another
 * site.
 */
export function tabStorage (): TabStorage {
  try {
    return Reflect.get(globalThis, 'sessionStorage') as TabStorage | undefined ?? inMemory
  } catch {
    return inMemory
  }
}

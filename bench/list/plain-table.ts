import type { CandidateData } from './candidates.js'

export interface CandidateQuery {
  page: number
  per_page: number
  sort: string
  'filter[recruiter_id]'?: number | string
  'filter[q]'?: string
  'filter[updated_after]'?: string
}

export interface CandidatePage {
  data: CandidateData[]
  total: number
}

export interface CandidatePages {
  /** Returns a page and the number of matching rows; `null` if `sort` contains a field twice. */
  find (query: CandidateQuery): CandidatePage | null | Promise<CandidatePage>
}

interface Row extends CandidateData {
  nameKey: string
}

type Field = 'id' | 'full_name' | 'created_at' | 'updated_at'

/** Keeps rows in an array and sorts each order once. */
export function createCandidateTable (candidates: readonly CandidateData[]): CandidatePages {
  const rows = candidates.map((row): Row => ({ ...row, nameKey: row.full_name.toLowerCase() }))
  const orders = new Map<string, Row[]>()

  function order (sort: string): Row[] | null {
    const known = orders.get(sort)
    if (known !== undefined) return known
    const items = sort
      .split(',')
      .map((item) => ({ field: item.replace('-', '') as Field, sign: item.startsWith('-') ? -1 : 1 }))
    if (new Set(items.map(({ field }) => field)).size < items.length) return null
    items.push({ field: 'id', sign: items.at(-1)?.sign ?? 1 })
    const sorted = rows.toSorted((a, b) => {
      for (const { field, sign } of items) {
        if (a[field] !== b[field]) return a[field] < b[field] ? -sign : sign
      }
      return 0
    })
    orders.set(sort, sorted)
    return sorted
  }

  function findRows (query: CandidateQuery): CandidateData[] | null {
    const sorted = order(query.sort)
    const recruiterId = query['filter[recruiter_id]']
    const search = query['filter[q]']?.trim().toLowerCase() ?? ''
    const updatedAfter = query['filter[updated_after]']
    if (sorted === null || (recruiterId === undefined && search === '' && updatedAfter === undefined)) return sorted
    const after = updatedAfter === undefined ? null : new Date(updatedAfter).toISOString()
    return sorted.filter((row) =>
      (recruiterId === undefined || row.recruiter_id === recruiterId) &&
      (search === '' || row.nameKey.includes(search)) &&
      (after === null || row.updated_at > after))
  }

  return {
    find (query) {
      const found = findRows(query)
      if (found === null) return null
      const { page, per_page: perPage } = query
      return { data: found.slice((page - 1) * perPage, page * perPage), total: found.length }
    }
  }
}

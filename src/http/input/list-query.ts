import type { SortItem } from '../../ports/index.js'
import { normalizeInstant } from '../../shared/instant.js'
import { badRequest } from '../wire-errors.js'

const maxSearchLength = 200

type Sort<Field extends string> = ReadonlyArray<SortItem<Field | 'id'>>

/** Parses a `sort` and appends `id`, so that the order is total. Throws a 400 for a repeated field. */
export function parseSort<Field extends string> (sort: string): Sort<Field> {
  const items = sort.split(',').map((text) => parseSortItem<Field>(text))
  const fields = items.map(({ field }) => field)
  const repeated = fields.find((field, index) => fields.indexOf(field) < index)
  if (repeated !== undefined) throw badRequest({ in: 'query', field: 'sort', message: `names ${repeated} more than once` })
  const isDescending = sort.slice(sort.lastIndexOf(',') + 1).startsWith('-')
  return fields.includes('id') ? items : [...items, { field: 'id', direction: isDescending ? 'desc' : 'asc' }]
}

/** The schema of the query has already refused unknown fields. */
function parseSortItem<Field extends string> (text: string): SortItem<Field | 'id'> {
  return text.startsWith('-') ? { field: text.slice(1) as Field, direction: 'desc' } : { field: text as Field, direction: 'asc' }
}

/** Trims `filter[q]`; blank text counts as absent. Throws a 400 for more than 200 characters. */
export function parseSearch (text: string | undefined): string | undefined {
  const trimmed = text?.trim()
  if (trimmed === undefined || trimmed === '') return undefined
  if ([...trimmed].length > maxSearchLength) {
    throw badRequest({ in: 'query', field: 'filter[q]', message: `must be at most ${maxSearchLength} characters` })
  }
  return trimmed
}

/** Converts `filter[updated_after]` to UTC. Throws a 400 for a date out of range. */
export function parseUpdatedAfter (text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const instant = normalizeInstant(text)
  if (instant !== null) return instant
  throw badRequest({ in: 'query', field: 'filter[updated_after]', message: 'must be a date-time of the years 1 to 9999' })
}

import type { SortItem } from '../../ports/index.js'
import { normalizeInstant } from '../../shared/instant.js'
import { type HttpError, badRequest } from '../errors.js'

const maxSearchLength = 200

type Sort<Field extends string> = ReadonlyArray<SortItem<Field | 'id'>>

/**
 * Reads a `sort` that the schema has let through, and ends it with `id`, so that the order is total. What was read is
 * kept: the schema lets through a few hundred texts at most.
 */
export function createSortParser<Field extends string> (fields: readonly Field[]): (sort: string) => Sort<Field> {
  const known = new Map<string, Sort<Field>>()
  return (sort) => {
    const parsed = known.get(sort) ?? parseSort(sort, fields)
    known.set(sort, parsed)
    return parsed
  }
}

function parseSort<Field extends string> (sort: string, fields: readonly Field[]): Sort<Field> {
  const items: Array<SortItem<Field | 'id'>> = []
  let direction: SortItem<Field>['direction'] = 'asc'
  for (const text of sort.split(',')) {
    direction = text.startsWith('-') ? 'desc' : 'asc'
    const field = fields.find((name) => name === (direction === 'desc' ? text.slice(1) : text))
    if (field === undefined) throw badSort(`must be up to 3 of ${fields.join(', ')}`)
    if (items.some((item) => item.field === field)) throw badSort(`names ${field} more than once`)
    items.push({ field, direction })
  }
  if (!items.some((item) => item.field === 'id')) items.push({ field: 'id', direction })
  return items
}

function badSort (message: string): HttpError {
  return badRequest({ in: 'query', field: 'sort', message })
}

/** Reads `filter[q]`: trimmed, and absent when nothing is left. */
export function parseSearch (text: string | undefined): string | undefined {
  const trimmed = text?.trim()
  if (trimmed === undefined || trimmed === '') return undefined
  if ([...trimmed].length > maxSearchLength) {
    throw badRequest({ in: 'query', field: 'filter[q]', message: `must be at most ${maxSearchLength} characters` })
  }
  return trimmed
}

/** Reads `filter[updated_after]`. */
export function parseUpdatedAfter (text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const instant = normalizeInstant(text)
  if (instant !== null) return instant
  throw badRequest({ in: 'query', field: 'filter[updated_after]', message: 'must be a date-time of the years 1 to 9999' })
}

import type { SortItem } from '../ports/index.js'
import { normalizeInstant } from '../instant.js'
import { badRequest } from './errors.js'

const maxSearchLength = 200

/** Reads a `sort` that the schema has let through, and ends it with `id`, so that the order is total. */
export function parseSort<Field extends string> (sort: string, fields: readonly Field[]): Array<SortItem<Field | 'id'>> {
  const items: Array<SortItem<Field | 'id'>> = []
  for (const text of sort.split(',')) {
    const direction = text.startsWith('-') ? 'desc' : 'asc'
    const name = direction === 'desc' ? text.slice(1) : text
    const field = fields.find((known) => known === name)
    if (field === undefined) throw badRequest({ in: 'query', field: 'sort', message: `names an unknown field: ${name}` })
    if (items.some((item) => item.field === field)) {
      throw badRequest({ in: 'query', field: 'sort', message: `names ${field} more than once` })
    }
    items.push({ field, direction })
  }
  if (!items.some((item) => item.field === 'id')) {
    items.push({ field: 'id', direction: items.at(-1)?.direction ?? 'asc' })
  }
  return items
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

/** The entries of a filter that are given, for ports whose optional fields are absent rather than undefined. */
export function given<T extends object> (filter: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  for (const name of Object.keys(filter) as Array<keyof T>) if (filter[name] === undefined) delete filter[name]
  return filter as { [K in keyof T]?: Exclude<T[K], undefined> }
}

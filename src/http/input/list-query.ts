import { normalizeInstant } from '../../shared/instant.js'
import { badRequest } from '../wire-errors.js'

const maxSearchLength = 200

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

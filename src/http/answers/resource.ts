import { HttpError } from '../errors.js'

/** An id that no storage can hold belongs to nothing. */
export function storableId (id: number): number {
  if (id < 1 || !Number.isSafeInteger(id)) throw new HttpError('not_found')
  return id
}

/** Another tenant's resource looks like one that does not exist, for the ports give `null` for both. */
export function found<T> (resource: T | null): T {
  if (resource === null) throw new HttpError('not_found')
  return resource
}

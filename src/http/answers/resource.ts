import type { Id } from '../../ports/index.js'
import { isStorableId } from '../../shared/ids.js'
import { HttpError } from '../wire-errors.js'

/** Throws a 404 for an id out of range: no resource can have it. */
export function storableId<ResourceId extends Id> (id: ResourceId): ResourceId {
  if (!isStorableId(id)) throw new HttpError('not_found')
  return id
}

/** Throws a 404 for `null`, which the ports return for another tenant's resource as well. */
export function found<T> (resource: T | null): T {
  if (resource === null) throw new HttpError('not_found')
  return resource
}

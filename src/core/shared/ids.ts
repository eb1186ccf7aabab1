import type { Id, IdKind, IdKinds } from '../ports/index.js'
import { choice, matching, readOptions } from './read-options.js'

const maxLength = 64
const visibleWithoutSlash = /^[!-.0-~]+$/

/** The rule for text ids, for messages. */
export const textIdRule = `1 to ${maxLength} visible ASCII characters without /`

/** The rule for each kind of id, for messages about rows. */
export const idRules: Record<IdKind, string> = {
  integer: 'an integer up to 2^53-1', string: `a string of ${textIdRule}`
}

/** The rule for text ids, for schemas. */
export const textIdPattern = `^[!-.0-~]{1,${maxLength}}$`

/** Returns whether a value is an id of this kind. Rows can have negative integers and 0; requests cannot. */
export function isId (value: unknown, kind: IdKind): value is Id {
  if (kind === 'integer') return Number.isSafeInteger(value)
  return typeof value === 'string' && value.length <= maxLength && visibleWithoutSlash.test(value)
}

/** Returns whether a resource can have this id, which a schema has checked. Storages are not queried for others. */
export function isStorableId (id: Id): boolean {
  return typeof id === 'string' || (id >= 1 && Number.isSafeInteger(id))
}

/** Parses an id stored as text, the reverse of `String(id)`. Returns `null` for other text. */
export function parseId (text: string, kind: IdKind): Id | null {
  const id = kind === 'integer' && /^-?\d+$/.test(text) ? Number(text) : text
  return isId(id, kind) ? id : null
}

/** Reads the kind of a resource that sync follows. The plurals of the API's own kinds are typos. */
export const readChangeKind = matching(
  (kind) => /^[a-z][a-z0-9_]{0,31}$/.test(kind) && kind !== 'candidates' && kind !== 'jobs',
  'candidate, job or the kind of an own list: 1 to 32 of a-z, 0-9 and _, beginning with a letter'
)

export function readIds (ids: Partial<IdKinds> = {}, path: string): IdKinds {
  const kind = choice(['integer', 'string'], 'integer')
  return readOptions(ids, { candidate: kind, job: kind, source: kind, recruiter: kind }, path)
}

export function isEventType (name: string): boolean {
  return /^[a-z0-9_]+(\.[a-z0-9_]+)+$/.test(name) && name.length <= 100
}

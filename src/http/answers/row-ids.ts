import type { CandidateRow, Id, IdKind, IdKinds, JobRow } from '../../ports/index.js'
import { isId, textIdRule } from '../../shared/ids.js'

/**
 * Throws for a candidate with an id of another kind than the option says: the serializer would convert it, or fail without
 * naming it. `method` is that of the port.
 */
export function assertCandidateIds (method: string, { id, source_id: sourceId }: CandidateRow<Id, Id>, ids: IdKinds): void {
  if (!isId(id, ids.candidate)) refuse(method, 'id', id, 'candidate', ids)
  if (sourceId !== null && !isId(sourceId, ids.source)) refuse(method, 'source_id', sourceId, 'source', ids)
}

/** The same for a job. */
export function assertJobIds (method: string, { id }: JobRow<Id>, ids: IdKinds): void {
  if (!isId(id, ids.job)) refuse(method, 'id', id, 'job', ids)
}

const rules: Record<IdKind, string> = { integer: 'an integer up to 2^53-1', string: `a string of ${textIdRule}` }

function refuse (method: string, field: string, value: unknown, name: keyof IdKinds, ids: IdKinds): never {
  const kind = ids[name]
  throw new Error(`${method} returned a row whose ${field} is ${describe(value)}, expected ${rules[kind]}: ids.${name} is '${kind}'`)
}

/** Names the type only: the log should hold no data. */
function describe (value: unknown): string {
  if (value === null || value === undefined) return String(value)
  return `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`
}

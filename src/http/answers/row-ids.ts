import type { IdKind } from '../../ports/index.js'
import { isId, textIdRule } from '../../shared/ids.js'

/** A field that holds an id. */
export interface IdField {
  /** Its name in rows. */
  field: string
  /** The option that says its kind. */
  option: string
  kind: IdKind
  isNullable: boolean
}

/** Throws for an id of another kind than the option says: the serializer would convert it, or fail without naming it. */
export function assertIds (method: string, row: object, fields: readonly IdField[]): void {
  for (const { field, option, kind, isNullable } of fields) {
    const value: unknown = row[field as keyof typeof row]
    if (isId(value, kind) || (value === null && isNullable)) continue
    throw new Error(`${method} returned a row whose ${field} is ${describe(value)}, expected ${rules[kind]}: ${option} is '${kind}'`)
  }
}

const rules: Record<IdKind, string> = { integer: 'an integer up to 2^53-1', string: `a string of ${textIdRule}` }

/** Names the type only: the log should hold no data. */
function describe (value: unknown): string {
  if (value === null || value === undefined) return String(value)
  return `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`
}

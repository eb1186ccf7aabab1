import type { IdKind } from '../../ports/index.js'
import { isId, textIdRule } from '../../shared/ids.js'

/**
 * Throws for an id of another kind than the option says: the serializer would convert it, or fail without naming it.
 * `method` is that of the port, and `option` the path of the option.
 */
export function assertId (value: unknown, kind: IdKind, method: string, field: string, option: string): void {
  if (isId(value, kind)) return
  throw new Error(`${method} returned a row whose ${field} is ${describe(value)}, expected ${rules[kind]}: ${option} is '${kind}'`)
}

const rules: Record<IdKind, string> = { integer: 'an integer up to 2^53-1', string: `a string of ${textIdRule}` }

/** Names the type only: the log should hold no data. */
function describe (value: unknown): string {
  if (value === null || value === undefined) return String(value)
  return `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`
}

import type { Id } from '../../ports/index.js'
import type { Column, Relation } from './relation.js'
import { integerTypes, textTypes } from './row-kind.js'

const uuid = /^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/i

/**
 * Returns the condition that a column holds this id; `null` if it cannot, because casting such text to uuid would throw. The
 * id is cast and never the column, so that an index on the column serves. Integers are compared as bigint: they may be out
 * of the range of the column's type.
 */
export function formatIdCondition (relation: Relation, column: string, id: Id): [template: string, value: Id] | null {
  const { type } = columnOf(relation, column)
  if (integerTypes.includes(type)) return typeof id === 'number' ? [`${column} = $::bigint`, id] : null
  if (typeof id === 'number') return null
  if (type !== 'uuid') return [`${column} = $::text`, id]
  return uuid.test(id) ? [`${column} = $::uuid`, id] : null
}

/** Returns whether a column needs `collate "C"` to be in the order of code points. Integers and uuids never do. */
export function needsCollation (relation: Relation, column: string): boolean {
  const { type, isInC } = columnOf(relation, column)
  return textTypes.includes(type) && !isInC
}

/** Every relation has the column: `assertColumns` has checked it. */
function columnOf ({ columns }: Relation, column: string): Column {
  return columns.get(column) as Column
}

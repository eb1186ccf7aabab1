import type { Id } from '../../ports/index.js'
import type { Column, Relation } from './relation.js'
import { integerTypes, textTypes } from './row-kind.js'

const uuid = /^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/i

/**
 * Returns the condition that a column holds this id; `null` if it cannot. The id is cast and never the column, so that an
 * index on the column serves.
 */
export function formatIdCondition (relation: Relation, column: string, id: Id): [template: string, value: Id] | null {
  return canHold(relation, column, id) ? [`${column} = $::${comparedType(relation, column)}`, id] : null
}

/** Returns the condition that `id` lies after this one, in the order of `formatIdOrder`; `null` if `id` cannot hold it. */
export function formatIdAfter (relation: Relation, id: Id): [template: string, value: Id] | null {
  return canHold(relation, 'id', id) ? [`${formatIdOrder(relation)} > $::${comparedType(relation, 'id')}`, id] : null
}

/** Returns the condition that `id` is one of these; ids that it cannot hold are left out. */
export function formatIdAmong (relation: Relation, ids: readonly Id[]): [template: string, value: Id[]] {
  return [`id = any ($::${comparedType(relation, 'id')}[])`, ids.filter((id) => canHold(relation, 'id', id))]
}

/** Returns the expression that orders the ids of `r`: integers and uuids by value, text by code point. */
export function formatIdOrder (relation: Relation): string {
  return needsCollation(relation, 'id') ? 'r.id collate "C"' : 'r.id'
}

/** Returns an id as the column stores it: uuids are in lower case. */
export function normalizeId (relation: Relation, id: Id): Id {
  return typeof id === 'string' && columnOf(relation, 'id').type === 'uuid' ? id.toLowerCase() : id
}

/** Returns whether a column can hold an id: casting other text to uuid would throw. */
function canHold (relation: Relation, column: string, id: Id): boolean {
  const type = comparedType(relation, column)
  return type === 'bigint' ? typeof id === 'number' : typeof id === 'string' && (type === 'text' || uuid.test(id))
}

/** Returns the type in which ids are compared. Integers may be out of the range of the column's type. */
function comparedType (relation: Relation, column: string): 'bigint' | 'uuid' | 'text' {
  const { type } = columnOf(relation, column)
  if (integerTypes.includes(type)) return 'bigint'
  return type === 'uuid' ? 'uuid' : 'text'
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

import type { Id } from '../../../core/ports/index.js'
import { type Condition, equals, quoteName } from '../sql.js'
import { type Column, type Relation, relationError } from './relation.js'
import { assertExact, assertType, integerTypes, textTypes } from './row-kind.js'

const uuid = /^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/i

/** Whether text is a tenant id as PostgreSQL formats it: otherwise `042` would read the rows of 42. */
const isTenantId = {
  text: () => true,
  uuid: (text: string) => uuid.test(text) && text === text.toLowerCase(),
  bigint: (text: string) => /^-?\d{1,19}$/.test(text) && String(BigInt.asIntN(64, BigInt(text))) === text
}

/**
 * Returns the condition that rows belong to this tenant; `null` if the column cannot contain its id. Pages order their
 * rows by the column first: see `equals`.
 */
export function formatTenantCondition (relation: TenantRelation, tenant: string): Condition<string> | null {
  const { tenantColumn } = relation
  const type = comparedType(relation, tenantColumn)
  return isTenantId[type](tenant) ? [(value) => `${tenantColumn} ${equals(`${value}::${type}`)}`, tenant] : null
}

/**
 * Returns the condition that a column equals this id; `null` if it cannot. Casts the id, never the column, so that an
 * index on the column can be used.
 */
export function formatIdCondition (relation: Relation, column: string, id: Id): Condition<Id> | null {
  return canContain(relation, column, id)
    ? [(value) => `${quoteName(column)} = ${value}::${comparedType(relation, column)}`, id]
    : null
}

/** Returns the condition that `id` follows this one in the order of `formatOrder`; `null` if it cannot contain it. */
export function formatIdAfter (relation: Relation, id: Id): Condition<Id> | null {
  if (!canContain(relation, 'id', id)) return null
  return [(value) => `${formatOrder(relation, 'id')} > ${value}::${comparedType(relation, 'id')}`, id]
}

/** Returns the condition that `id` is one of these; skips ids that it cannot contain. */
export function formatIdAmong (relation: Relation, ids: readonly Id[]): Condition<Id[]> {
  const possible = ids.filter((id) => canContain(relation, 'id', id))
  return [(value) => `id = any (${value}::${comparedType(relation, 'id')}[])`, possible]
}

/** Returns the expression that orders the rows of `r` by a column: text by code point, all others by value. */
export function formatOrder (relation: Relation, column: string): string {
  return needsCollation(relation, column) ? `${formatColumn(column)} collate "C"` : formatColumn(column)
}

/** Returns a column of `r`, quoted if needed. */
export function formatColumn (column: string): string {
  return `r.${/^[a-z_][a-z0-9_]*$/.test(column) ? column : quoteName(column)}`
}

/** Returns an id as the column stores it: uuids are in lower case. */
export function normalizeId (relation: Relation, id: Id): Id {
  return typeof id === 'string' && columnOf(relation, 'id').type === 'uuid' ? id.toLowerCase() : id
}

/** Returns whether a column can contain an id: casting other text to uuid would throw. */
function canContain (relation: Relation, column: string, id: Id): boolean {
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

/** Every relation has the column: `assertColumns` and `findTenantColumn` have checked it. */
function columnOf ({ columns }: Relation, column: string): Column {
  return columns.get(column) as Column
}

export interface TenantRelation extends Relation {
  tenantColumn: 'tenant_id' | 'tenant_slug'
}

const types = { tenant_slug: textTypes, tenant_id: [...textTypes, 'uuid', ...integerTypes] }

/**
 * Finds and checks the tenant column. `hasTenantIds` is whether the option `tenantId` is set. If it is `null`, the
 * relation decides, and `tenant_slug` wins if it has both columns. Throws `storage_not_ready`.
 */
export function findTenantColumn (relation: Relation, option: string, hasTenantIds: boolean | null): TenantRelation {
  const { name, columns } = relation
  const hasOnlyIds = columns.has('tenant_id') && !columns.has('tenant_slug')
  if (hasTenantIds === false && hasOnlyIds) {
    throw relationError(option, `${name} has the column tenant_id and no tenant_slug, so it needs the option tenantId`)
  }
  if (hasTenantIds === true && !columns.has('tenant_id')) {
    throw relationError(option, `${name} has no column tenant_id, which the option tenantId needs`)
  }
  const tenantColumn = hasTenantIds ?? hasOnlyIds ? 'tenant_id' : 'tenant_slug'
  assertType(relation, option, tenantColumn, types[tenantColumn])
  assertExact(relation, option, tenantColumn)
  return { ...relation, tenantColumn }
}

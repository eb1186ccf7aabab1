import { type Column, type Relation, relationError } from './relation.js'
import type { RowKind } from './row-kind.js'
import { quoteName } from './names.js'
import { toIso } from './sql.js'

/** How one published field is selected and read. */
export interface FieldReader {
  field: string
  /** What the field is named among the columns of a page: the name of a field may be anything. */
  alias: string
  expression: string
  /** Null is passed over. */
  read: (text: string) => unknown
}

const integers = ['bigint', 'integer', 'smallint']
const texts = ['text', 'character varying']

/** Throws `storage_not_ready` for the first column that a list needs and that is missing or of another type. */
export function assertColumns (relation: Relation, { option, columns, exact }: RowKind): void {
  for (const [name, types] of Object.entries(columns)) {
    const column = findColumn(relation, option, name)
    if (!types.includes(column.type)) {
      throw relationError(option, `the column ${name} of ${relation.name} is ${column.type}, expected ${types.join(' or ')}`)
    }
    if (exact.includes(name) && !column.isExact) {
      throw relationError(option, `the column ${name} of ${relation.name} has a collation by which different texts are equal`)
    }
  }
}

/** Throws `storage_not_ready` if there is no such column. */
export function readerOf (relation: Relation, option: string, field: string, alias: string): FieldReader {
  const { type } = findColumn(relation, option, field)
  const column = `r.${quoteName(field)}`
  if (integers.includes(type)) return { field, alias, expression: `${column}::text`, read: Number }
  if (texts.includes(type)) return { field, alias, expression: `${column}::text`, read: String }
  if (type === 'timestamp with time zone') return { field, alias, expression: toIso(column), read: String }
  return { field, alias, expression: `to_json(${column})::text`, read: JSON.parse }
}

function findColumn ({ name, columns }: Relation, option: string, column: string): Column {
  const found = columns.get(column)
  if (found === undefined) throw relationError(option, `${name} has no column ${column}`)
  return found
}

import type { FieldType, IdKind, IdKinds, OwnFilter } from '../../../core/ports/index.js'
import { candidateFilters, jobFilters, type RowFilters } from '../../../core/ports/lists.js'
import { cast, quoteName, toIso } from '../sql.js'
import { type Column, type Relation, relationError } from './relation.js'

/**
 * Converts the driver's value of a column that is not null. Calls `onInexact` if the value was JSON with a number that
 * no JavaScript number equals.
 */
export type ReadValue = (value: unknown, onInexact: () => void) => unknown

interface FieldReader {
  field: string
  /** Its result column has the field's name. */
  expression: string
  /** `null` if the driver's value needs no conversion. */
  read: ReadValue | null
}

/**
 * Throws `storage_not_ready` for the first required column that is missing or has a wrong type, except the tenant
 * column. Without `kinds`, id columns can have any id type.
 */
export function assertColumns (relation: Relation, kind: RowKind, kinds: IdKinds | null): void {
  const { option, columns, ids, exact } = kind
  for (const [name, types] of Object.entries(columns)) assertType(relation, option, name, types)
  for (const [name, id] of Object.entries(ids)) {
    if (kinds === null) assertType(relation, option, name, Object.values(idTypes).flat())
    else assertType(relation, option, name, idTypes[kinds[id]], `, because the option ids.${id} is '${kinds[id]}'`)
  }
  for (const name of exact) assertExact(relation, option, name)
}

/** Throws `storage_not_ready` if the column of an own filter has a type or collation that cannot be compared. */
export function assertFilter (relation: Relation, option: string, { field, type }: OwnFilter): void {
  const reason = `, because the option ${option.slice(0, -1)}Filters names it`
  assertType(relation, option, field, filterTypes[type], reason)
  assertExact(relation, option, field)
}

/** Throws `storage_not_ready` if a column is missing or its collation treats different texts as equal. */
export function assertExact (relation: Relation, option: string, name: string): void {
  if (findColumn(relation, option, name).isExact) return
  const problem = `the column ${name} of ${relation.name} has a collation that treats different texts as equal`
  throw relationError(option, problem)
}

/** Throws `storage_not_ready` if a column is missing or has a wrong type. */
export function assertType (
  relation: Relation, option: string, name: string, types: readonly string[], reason = ''
): void {
  const { type } = findColumn(relation, option, name)
  if (types.includes(type)) return
  const problem = `the column ${name} of ${relation.name} is ${type}, expected ${types.join(' or ')}${reason}`
  throw relationError(option, problem)
}

/**
 * Returns how to read a column. With `asText`, numbers are returned as text. Throws `storage_not_ready` if there is no
 * such column.
 */
export function readerOf (relation: Relation, option: string, field: string, asText = false): FieldReader {
  const { type } = findColumn(relation, option, field)
  const column = quoteName(field)
  const reject = (reason: string): never => { throw new Error(`${option}: the column ${field} contains ${reason}`) }
  if (textTypes.includes(type) || type === 'uuid' || (asText && numberTypes.includes(type))) {
    return { field, expression: cast(column, type, 'text'), read: null }
  }
  if (integerTypes.includes(type)) {
    const read = (value: unknown): number => isExact(String(value)) ? Number(value) : reject(largeNumber)
    return { field, expression: cast(column, type, relation.integerType), read }
  }
  if (type === 'timestamp with time zone') {
    // to_char returns null for infinity, and formats years BC as years AD.
    const isShown = `${column} >= '0001-01-01Z' and ${column} < '10000-01-01Z'`
    const expression = `case when ${isShown} then ${toIso(column)} else ${column}::text end as ${column}`
    const outside = 'a time outside the years 1 to 9999'
    const read = (time: unknown): unknown => isIso(String(time)) ? time : reject(outside)
    return { field, expression, read }
  }
  if (/^jsonb?(\[\])?$/.test(type)) {
    const read: ReadValue = (json, onInexact) => parseJson(String(json), onInexact)
    return { field, expression: `to_json(${column})::text as ${column}`, read }
  }
  const value = asText && numberTypes.some((number) => type === `${number}[]`) ? `${column}::text[]` : column
  return {
    field,
    expression: `to_json(${value})::text as ${column}`,
    read: (json) => parseJson(String(json), () => reject(largeNumber))
  }
}

const largeNumber = 'a number that JavaScript cannot represent: publish it as text'

function isIso (text: string): boolean {
  return /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/.test(text)
}

/** Parses JSON. Calls `onInexact` for each number that no JavaScript number equals, and replaces it with null. */
function parseJson (json: string, onInexact: () => void): unknown {
  let exact = ''
  for (let at = 0; at < json.length;) {
    const next = json.indexOf('"', at)
    const text = next === -1 ? json.length : next
    exact += json.slice(at, text).replace(/-?\d[\d.eE+-]*/g, (number) => {
      if (isExact(number)) return number
      onInexact()
      return 'null'
    })
    at = next === -1 ? text : findEnd(json, text)
    exact += json.slice(text, at)
  }
  return JSON.parse(exact)
}

/** Returns the position after the text that begins at a quotation mark. */
function findEnd (json: string, quote: number): number {
  let end = quote
  do {
    end = json.indexOf('"', end + 1)
  } while (countBackslashes(json, end) % 2 === 1)
  return end + 1
}

function countBackslashes (json: string, end: number): number {
  let start = end
  while (json[start - 1] === '\\') start--
  return end - start
}

/** More digits than any number has that is not rounded. */
const maxNumberLength = 400

/** Whether a JavaScript number has the same digits as this one. */
function isExact (number: string): boolean {
  if (number.length > maxNumberLength) return false
  return number.length < 16 && !/e/i.test(number) ? true : digitsOf(number) === digitsOf(String(Number(number)))
}

/** Returns a number's digits without zeros at either end, and its exponent: 1.50 and 15e-1 return the same. */
function digitsOf (number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const kept = digits.replace(/0+$/, '')
  return kept === '' ? '0' : `${sign}${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`
}

function findColumn ({ name, columns }: Relation, option: string, column: string): Column {
  const found = columns.get(column)
  if (found === undefined) throw relationError(option, `${name} has no column ${column}`)
  return found
}

export interface RowKind {
  /** The option that names the relation. */
  option: 'candidates' | 'jobs'
  /** Required columns and their allowed types. The tenant column depends on the option `tenantId`. */
  columns: Readonly<Record<string, readonly string[]>>
  ids: Readonly<Record<string, keyof IdKinds>>
  /** Columns whose collation must treat only identical texts as equal. */
  exact: readonly string[]
  filters: RowFilters
}

export const textTypes = ['text', 'character varying']
export const integerTypes = ['bigint', 'integer', 'smallint']
const numberTypes = [...integerTypes, 'numeric', 'double precision', 'real']
const time = ['timestamp with time zone']

const filterTypes: Readonly<Record<FieldType, readonly string[]>> = {
  text: [...textTypes, 'uuid'], integer: integerTypes, boolean: ['boolean'], time
}

/** Returns the type of a filter by a column; `undefined` if it cannot have one. */
export function filterTypeOf ({ type }: Column): FieldType | undefined {
  return (Object.keys(filterTypes) as FieldType[]).find((name) => filterTypes[name].includes(type))
}

const idTypes: Readonly<Record<IdKind, readonly string[]>> = { integer: integerTypes, string: ['uuid', ...textTypes] }

function exactColumns (filters: RowFilters): string[] {
  const exact = Object.values(filters).filter(({ test }) => test === 'id' || test === 'text')
  return ['id', ...exact.map(({ field }) => field)]
}

export const candidateKind: RowKind = {
  option: 'candidates',
  columns: { full_name: textTypes, headline: textTypes, created_at: time, updated_at: time },
  ids: { id: 'candidate', source_id: 'source', recruiter_id: 'recruiter' },
  exact: exactColumns(candidateFilters),
  filters: candidateFilters
}

export const jobKind: RowKind = {
  option: 'jobs',
  columns: { name: textTypes, status: textTypes, created_at: time, updated_at: time },
  ids: { id: 'job' },
  exact: exactColumns(jobFilters),
  filters: jobFilters
}

import type { SortItem } from '../../core/ports/index.js'
import { assertOption, matching, orNull } from '../../core/shared/read-options.js'
import { isStorableText } from '../../core/shared/text.js'

/*
 * Hosts may configure how their driver parses dates, big integers and JSON. So queries return these as text, except
 * integers of a relation whose `integerType` is known.
 */

/** The database's time, truncated to milliseconds as in the API. */
export const moment = "date_trunc('milliseconds', clock_timestamp())"

const maxNameBytes = 63

export function readSchema (schema = 'recruiting', path: string): string {
  const isName = typeof schema === 'string' && schema !== '' && Buffer.byteLength(schema) <= maxNameBytes &&
    isStorableText(schema) && !schema.startsWith('pg_')
  assertOption(isName, path, `a name of 1 to ${maxNameBytes} bytes that does not begin with pg_`, schema)
  return schema
}

/** Reads the SQL name of a table or view; `null` if absent. */
export const readRelation = orNull(matching(
  (name) => name !== '' && isStorableText(name), 'the name of a table or view, such as public.api_candidates'
))

export function quoteName (name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

export function quoteLiteral (text: string): string {
  return `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}

/**
 * Compares the first column of `order by` with an expression. After a plain `=`, the planner drops the column from the
 * order. If few tenants own the rows, it may then read all tenants' rows in the order of another index.
 */
export function equals (value: string): string {
  return `= any (array[${value}])`
}

/**
 * A condition that is always true, for a prepared statement with a plan for its values. PostgreSQL would replace such
 * plans with one for all values where that looks cheaper; with this condition, it looks too expensive.
 */
export const planWithValues = '($1::text is not null or (select count(*) from generate_series(1, 1e9::bigint)) = 0)'

export function toIso (expression: string): string {
  return `to_char(${expression} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/** Formats the creator of a row of `api_keys` or `webhooks` as JSON. */
export function creatorJson (alias: string): string {
  return `json_build_object('type', ${alias}.creator_type, 'id', ${alias}.creator_id)`
}

export function cast (expression: string, type: string, wanted: string): string {
  return type === wanted ? expression : `${expression}::${wanted}`
}

export function orderBy<Field extends string> (
  sort: ReadonlyArray<SortItem<Field>>, columns: Readonly<Record<Field, string>>
): string {
  return `order by ${sort.map(({ field, direction }) => `${columns[field]} ${direction}`).join(', ')}`
}

/** A function that formats a condition with a parameter such as `$1`, and the parameter's value. */
export type Condition<Value = unknown> = [format: (parameter: string) => string, value: Value]

/** A `where` clause whose values become parameters. */
export class Conditions {
  readonly values: unknown[]
  #text = ''

  constructor (...conditions: Condition[]) {
    this.values = []
    for (const condition of conditions) this.add(...condition)
  }

  add (...[format, value]: Condition): void {
    if (value === undefined) return
    this.#text += (this.#text === '' ? 'where ' : ' and ') + format(this.bind(value))
  }

  bind (value: unknown): string {
    return `$${this.values.push(value)}`
  }

  toString (): string {
    return this.#text
  }
}

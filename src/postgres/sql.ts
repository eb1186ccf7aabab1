import type { SortItem } from '../ports/index.js'

/*
 * Hosts may have told their driver to read dates, big integers or JSON in their own way. So all of these leave the
 * database as text, unless it is known how they are read (`integerType` of a relation).
 */

/** The time of the database in milliseconds: what is kept is what is shown. */
export const moment = "date_trunc('milliseconds', clock_timestamp())"

/** Quotes a name for SQL. */
export function quoteName (name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** RFC 3339 in UTC with milliseconds. */
export function toIso (expression: string): string {
  return `to_char(${expression} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/** An expression of one type as another. PostgreSQL names the result of a cast after its column. */
export function cast (expression: string, type: string, wanted: string): string {
  return type === wanted ? expression : `${expression}::${wanted}`
}

/** `order by`, with text by Unicode code point. `columns` gives the expression of each field. */
export function orderBy<Field extends string> (
  sort: ReadonlyArray<SortItem<Field>>,
  columns: Readonly<Record<Field, string>>
): string {
  return `order by ${sort.map(({ field, direction }) => `${columns[field]} ${direction}`).join(', ')}`
}

/** Conditions whose values become parameters. */
export class Conditions {
  readonly values: unknown[]
  #text = ''

  constructor (...conditions: Array<[template: string, value: unknown]>) {
    this.values = []
    for (const [template, value] of conditions) this.add(template, value)
  }

  /** Adds a condition, in which `$` stands for the value; one without a value holds for every row. */
  add (template: string, value: unknown): void {
    if (value === undefined) return
    const place = template.indexOf('$')
    this.#text += (this.#text === '' ? 'where ' : ' and ') + template.slice(0, place) + this.bind(value) + template.slice(place + 1)
  }

  /** Makes a value a parameter, and returns its name. */
  bind (value: unknown): string {
    return `$${this.values.push(value)}`
  }

  toString (): string {
    return this.#text
  }
}

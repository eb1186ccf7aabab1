import type { ListQuery, ListSource } from '../../core/ports/index.js'
import { readJson, readValue, type Session } from './session.js'
import { type Conditions, orderBy } from './sql.js'

/** Lists and counts rows of `tables`, each as `json`. `what` names them in the log. */
export function createListSource<Row, Filter, SortField extends string> (session: Session, what: string, rows: {
  tables: string
  json: string
  sortColumns: Record<SortField, string>
  filterBy: (tenant: string, filter: Filter) => Conditions
}): ListSource<Row, Filter, SortField> {
  const { tables, json, sortColumns, filterBy } = rows

  return {
    list (tenant, { filter, sort, offset, limit }: ListQuery<Filter, SortField>) {
      const where = filterBy(tenant, filter)
      return readJson<Row>(session, `list ${what}`, `
        select ${json}::text as json from ${tables} ${where}
        ${orderBy(sort, sortColumns)} limit ${where.bind(limit)} offset ${where.bind(offset)}`, where.values)
    },

    async count (tenant, filter) {
      const where = filterBy(tenant, filter)
      return Number(await readValue(session, `count ${what}`, `select count(*) from ${tables} ${where}`, where.values))
    }
  }
}

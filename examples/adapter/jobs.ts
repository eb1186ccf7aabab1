import type { JobFilter, JobSource } from 'fastify-recruiting-api'
import type { Database, Row } from './database.js'
import { foldCase, orderBy, toIso, where } from './query.js'

const columns = { id: 'nr', name: 'title', status: 'state', created_at: 'created', updated_at: 'changed' }

export function createJobs (database: Database): JobSource {
  return {
    async list (tenantSlug, { filter, sort, offset, limit }) {
      const { text, values } = conditions(tenantSlug, filter)
      const rows = database.all(`select * from vacancies ${text} ${orderBy(sort, columns)} limit ? offset ?`, [
        ...values,
        limit,
        offset
      ])
      return rows.map(toJob)
    },

    async count (tenantSlug, filter) {
      const { text, values } = conditions(tenantSlug, filter)
      return Number(database.get(`select count(*) as total from vacancies ${text}`, values)?.total)
    },

    async find (tenantSlug, id) {
      const row = database.get('select * from vacancies where customer = ? and nr = ?', [tenantSlug, id])
      return row === null ? null : toJob(row)
    }
  }
}

function toJob (row: Row) {
  return {
    id: Number(row.nr),
    name: String(row.title),
    status: String(row.state),
    created_at: toIso(row.created),
    updated_at: toIso(row.changed)
  }
}

function conditions (tenantSlug: string, { status, q, updatedAfter }: JobFilter) {
  return where([
    ['customer = ?', tenantSlug],
    ['state = ?', status],
    ['instr(title_key, ?) > 0', q && foldCase(q)],
    ['changed > ?', updatedAfter === undefined ? undefined : Date.parse(updatedAfter)]
  ])
}

import type { CandidateFilter, CandidateSource } from 'fastify-recruiting-api'
import type { Database, Row } from './database.js'
import { foldCase, orderBy, toIso, where } from './query.js'

const columns = { id: 'nr', full_name: 'name', created_at: 'created', updated_at: 'changed' }

export function createCandidates (database: Database): CandidateSource {
  return {
    async list (tenantSlug, { filter, sort, offset, limit }) {
      const { text, values } = conditions(tenantSlug, filter)
      const rows = database.all(`select * from people ${text} ${orderBy(sort, columns)} limit ? offset ?`, [
        ...values,
        limit,
        offset
      ])
      return rows.map(toCandidate)
    },

    async count (tenantSlug, filter) {
      const { text, values } = conditions(tenantSlug, filter)
      return Number(database.get(`select count(*) as total from people ${text}`, values)?.total)
    },

    async find (tenantSlug, id) {
      const row = database.get('select * from people where customer = ? and nr = ?', [tenantSlug, id])
      return row === null ? null : toCandidate(row)
    }
  }
}

function toCandidate (row: Row) {
  return {
    id: Number(row.nr),
    full_name: String(row.name),
    headline: row.title === null ? null : String(row.title),
    source_id: row.origin === null ? null : Number(row.origin),
    // Not sent unless the option `candidateFields` publishes them.
    recruiter_id: row.owner,
    created_at: toIso(row.created),
    updated_at: toIso(row.changed)
  }
}

// `instr` has no wildcards.
function conditions (tenantSlug: string, { recruiterId, q, updatedAfter }: CandidateFilter) {
  return where([
    ['customer = ?', tenantSlug],
    ['owner = ?', recruiterId],
    ['instr(name_key, ?) > 0', q && foldCase(q)],
    ['changed > ?', updatedAfter === undefined ? undefined : Date.parse(updatedAfter)]
  ])
}

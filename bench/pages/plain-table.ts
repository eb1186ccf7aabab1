import type pg from 'pg'
import type { CandidateData } from '../list/candidates.js'
import type { CandidatePages, CandidateQuery } from '../list/plain-table.js'

interface Row extends Omit<CandidateData, 'id' | 'source_id'> {
  id: string
  source_id: string | null
}

/** The two queries that a good engineer writes by hand, in parallel, with the columns and indexes at hand. */
export function createPostgresPages (pool: pg.Pool, tenantSlug: string): CandidatePages {
  return {
    async find ({ page, per_page: perPage, 'filter[q]': q }: CandidateQuery) {
      const values: unknown[] = [tenantSlug]
      let where = 'where tenant_slug = $1'
      if (q !== undefined) {
        values.push(`%${q.trim().toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`)
        where += ' and name_key like $2'
      }
      const [{ rows }, { rows: [counted] }] = await Promise.all([
        pool.query<Row>(`
          select id, full_name, headline, source_id from candidates ${where}
          order by id limit ${perPage} offset ${(page - 1) * perPage}`, values),
        pool.query<{ count: string }>(`select count(*) from candidates ${where}`, values)
      ])
      const data = rows.map((row) => ({ ...row, id: Number(row.id), source_id: row.source_id === null ? null : Number(row.source_id) }))
      return { data, total: Number(counted?.count) }
    }
  }
}

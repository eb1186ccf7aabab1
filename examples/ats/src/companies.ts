// The companies that use your product. The API stores everything by their ids, so a company can change its slug.

import type pg from 'pg'

export interface Companies {
  /** Returns the id of the company with this slug. Called for each request, so it must be fast. */
  findId (slug: string): Promise<string | null>
  /** Returns the current slug. A new company is visible only in the transaction that creates it. */
  findSlug (id: string, transaction: unknown): Promise<string | null>
}

/** Companies in PostgreSQL. */
export function postgresCompanies (pool: pg.Pool): Companies {
  return {
    async findId (slug) {
      const { rows: [row] } = await pool.query('select id::text from companies where slug = $1', [slug])
      return row?.id ?? null
    },
    async findSlug (id, transaction = pool) {
      const { rows: [row] } = await (transaction as pg.Pool).query('select slug from companies where id = $1', [id])
      return row?.slug ?? null
    }
  }
}

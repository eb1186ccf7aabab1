import type pg from 'pg'
import type { ChangeSource } from '../../../src/index.js'
import type { Touched } from './postgres-writes.js'

/** Records a change with the time of its transaction. */
export function recordByTime ({ kind, tenantSlug, id }: Touched): string {
  return `insert into changes_by_time (tenant_slug, kind, id) values ('${tenantSlug}', '${kind}', '${id}')`
}

/** A position by time, as one would write it at first: it passes by what commits late. */
export async function createChangesByTime (pool: pg.Pool): Promise<ChangeSource> {
  await pool.query(`create table changes_by_time (
    number bigint generated always as identity, at timestamptz not null default now(), tenant_slug text, kind text, id text
  )`)
  const secret = Buffer.alloc(32, 1)

  return {
    async begin () {
      return (await pool.query<{ at: string }>("select now()::text || '|0' as at")).rows[0]?.at ?? ''
    },

    async list (tenantSlug, kind, { after, limit }) {
      const { rows } = await pool.query<{ id: string, position: string }>(`
        select id, at::text || '|' || number as position from changes_by_time
        where tenant_slug = $1 and kind = $2 and (at, number) > ($3::timestamptz, $4::bigint)
        order by at, number limit $5`, [tenantSlug, kind, ...after.split('|'), limit + 1])
      const page = rows.slice(0, limit)
      return { ids: page.map(({ id }) => id), position: page.at(-1)?.position ?? after, hasMore: rows.length > limit }
    },

    async record (tenantSlug, { kind, id }, transaction) {
      await (transaction as pg.PoolClient).query('insert into changes_by_time (tenant_slug, kind, id) values ($1, $2, $3)', [tenantSlug, kind, id])
    },

    tokenSecret: async () => secret,
    prune: async () => 0,
    stats: async () => ({ heldBackMs: 0, heldBackBy: null })
  }
}

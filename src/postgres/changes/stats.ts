import type { ChangeStats } from '../../ports/index.js'
import type { Session } from '../session.js'

/** Finds the transaction that hides changes from readers; `schema` is quoted. */
export function createChangeStats (session: Session, schema: string): () => Promise<ChangeStats> {
  // Without the right pg_read_all_stats, the beginning of other users' transactions is null.
  const text = `
    with oldest as (
      select c.changed_at, bounds.horizon::xid as xid
      from (select pg_snapshot_xmin(now) as horizon, pg_snapshot_xmax(now) as next from pg_current_snapshot() as now) as bounds
      join ${schema}.recent_changes c on c.xid >= bounds.horizon and c.xid < bounds.next
      order by c.xid
      limit 1
    ), owner as (
      select a.xact_start as began_at, format('pid %s, user %s, application %s', a.pid, a.usename, a.application_name) as name
      from oldest o join pg_stat_activity a on a.backend_xid = o.xid
      union all
      select p.prepared, format('prepared transaction %s, user %s', p.gid, p.owner)
      from oldest o join pg_prepared_xacts p on p.transaction = o.xid
    )
    select floor(1000 * extract(epoch from clock_timestamp() - least(owner.began_at, oldest.changed_at)))::text as ms,
      coalesce(owner.name, 'unknown') as name
    from oldest left join owner on true`

  return async () => {
    const [row] = await session.query<{ ms: string, name: string }>('read stats of changes', text)
    return row === undefined ? { heldBackMs: 0, heldBackBy: null } : { heldBackMs: Number(row.ms), heldBackBy: row.name }
  }
}

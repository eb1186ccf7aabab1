import type { ChangeKind, ChangePage, ChangeSource, MissedChanges } from '../../../core/ports/index.js'
import { readField } from '../../../core/shared/fields.js'
import { runInTransaction } from '../transactions.js'
import { readJson, readValue, type Session } from '../session.js'
import { equals, planWithValues, toIso } from '../sql.js'
import { createReadBound, createReadHeldBack, formatPosition, parsePosition } from './position.js'
import { listWatchedTables } from './watched-tables.js'

interface ChangeRow {
  is_known: boolean
  is_recorded: boolean
  /** The position up to which everything was read. */
  end: string
  id: string | null
  seq: string
}

/**
 * Lists changes; `schema` is quoted. One statement reads the changes and checks the position, so that both see one
 * snapshot.
 */
function createListChanges (
  session: Session, schema: string, readBound: ReturnType<typeof createReadBound>
): ChangeSource['list'] {
  const text = `
    select bounds.epoch = $5 and bounds.is_recorded and bounds.pruned <= $6::bigint
      and $6::bigint <= $4::bigint as is_known, bounds.is_recorded,
      greatest(bounds.read_to, $6::bigint)::text as end, change.id, change.seq::text
    from ${schema}.change_bounds_v1($1, $2, $3) as bounds
    left join lateral (
      select c.id, c.seq
      from (
        select tenant, kind, id, seq from ${schema}.changes
        union all select tenant, kind, id, seq from ${schema}.recent_changes
      ) as c
      where c.tenant ${equals('(select $1::text)')} and c.kind = $2 and c.seq > $6::bigint and c.seq <= $3::bigint
      order by c.tenant, c.seq
      limit $7
    ) as change on true
    where ${planWithValues}
    order by change.seq`

  return async (tenant, kind, { after, limit }) => {
    const position = parsePosition(after)
    if (position === null) return null
    const { epoch, seq } = position
    const { bound, last } = await readBound()
    const rows = await session.prepared<ChangeRow>(
      'list changes', text, [tenant, kind, bound, last, epoch, seq, limit + 1]
    )
    if (rows[0]?.is_known === true) return createPage(rows, limit, epoch, rows[0].end)
    if (rows[0]?.is_recorded === false) await noteMissed(session, schema, kind)
    return null
  }
}

const readOnly = '25006'

/** Stores that triggers lack rights, so that positions stay invalid when the rights return. */
async function noteMissed (session: Session, schema: string, kind: ChangeKind): Promise<void> {
  try {
    await session.query('note missed changes', `select ${schema}.note_missed_changes_v1($1)`, [kind])
  } catch (error) {
    // A user may only read: its positions stay invalid until the rights return.
    if (readField(error, 'code') !== readOnly) throw error
  }
}

function createPage (rows: readonly ChangeRow[], limit: number, epoch: string, end: string): ChangePage {
  const changes = rows.flatMap(({ id, seq }) => id === null ? [] : [{ id, seq }])
  const page = changes.slice(0, limit)
  const last = page.at(-1)
  const hasMore = changes.length > limit
  return {
    ids: page.map(({ id }) => id),
    position: formatPosition({ seq: hasMore && last !== undefined ? last.seq : end, epoch }),
    hasMore
  }
}

/** Who records changes: triggers of `watch`, or the host, which may use triggers too. */
type ChangesMode = 'watch' | 'manual'

const batchSize = 10_000

/** Stores changes in PostgreSQL; `patient` has a longer timeout, `schema` is quoted. */
export function createChangeSource (
  session: Session, patient: Session, schema: string, mode: ChangesMode
): Required<ChangeSource> {
  const readBound = createReadBound(session, schema, 'recent_changes')
  const record = `${schema}.changed($1, $2, $3, $4::boolean)`

  /** Calls a function with the size of a batch until it returns another result. */
  async function repeat (operation: string, name: string, result: string): Promise<void> {
    while (await readValue(patient, operation, `${schema}.${name}($1)`, [batchSize]) === result);
  }

  return {
    async begin (tenant, kind) {
      const { bound } = await readBound()
      const [row] = await session.query<{ epoch: string, is_recorded: boolean, seq: string }>('read position',
        `select epoch, is_recorded, read_to::text as seq from ${schema}.change_bounds_v1($1, $2, $3)`,
        [tenant, kind, bound])
      if (row?.is_recorded === false) await noteMissed(session, schema, kind)
      return formatPosition({ seq: String(row?.seq), epoch: String(row?.epoch) })
    },

    list: createListChanges(session, schema, readBound),

    async record (tenant, { kind, id, deleted }, transaction) {
      const values = [tenant, kind, id, String(deleted)]
      if (transaction === undefined) {
        await session.query('record change', `select ${record}`, values)
      } else {
        await runInTransaction(session, 'record change', transaction, (call) =>
          call(`(select 'done' from ${record})`, values))
      }
    },

    async isRecorded (kind) {
      const tables = await listWatchedTables(
        (text, values) => session.query('list watched tables', text, values), schema, kind
      )
      const isWatched = mode === 'manual' || tables.some(({ isThere }) => isThere)
      return isWatched && tables.every(({ lost }) => lost.length === 0)
    },

    async tokenSecret () {
      const text = `select encode(secret, 'hex') from ${schema}.change_state`
      return Buffer.from(String(await readValue(session, 'read token secret', text)), 'hex')
    },

    async prune ({ retentionDays, limit }) {
      await patient.query('note all missed changes', `select ${schema}.note_missed_changes_v1(w.kind)
        from (select distinct kind from ${schema}.watched_tables) as w`)
      await repeat('delete ended changes', 'delete_ended_changes_v1', 'true')
      // Moves recent changes that readers can see to `changes`, which keeps the last one of each item.
      await repeat('compact changes', 'compact_changes_v1', String(batchSize))
      const values = [retentionDays, limit]
      return Number(await readValue(patient, 'prune changes', `${schema}.prune_changes_v1($1, $2)`, values))
    },

    missed: () => readJson<MissedChanges>(session, 'read missed changes', `
      select json_build_object(
        'kind', kind, 'table', table_name, 'eventType', event_type, 'since', ${toIso('missed_at')}, 'problem', problem
      )::text as json
      from (
        select distinct on (m.kind, m.schema_name, m.table_name, m.event_type)
          m.id, m.kind, format('%I.%I', m.schema_name, m.table_name) as table_name, m.event_type, m.missed_at, m.problem
        from ${schema}.missed_changes m
        order by m.kind, m.schema_name, m.table_name, m.event_type, m.id
      ) as first
      order by id limit 100`),

    stats: createReadHeldBack(session, schema, 'recent_changes')
  }
}

import { createTenants } from '../../postgres/tenants.js'
import { formatNames } from '../terminal.js'
import { type DoctorContext, fault, type Finding, ok, orOk, unknown } from './finding.js'

/** A sequence, and the largest id that it has given out. Names without a schema. */
interface Numbered {
  /** The sequence, or the identity column that owns it. */
  sequence: string | { table: string, column: string }
  largest: string
  rows: string
}

const numbered: readonly Numbered[] = [
  { sequence: 'webhook_ids', rows: 'webhooks', largest: 'select max(id) from $.webhooks' },
  {
    sequence: 'delivery_ids',
    rows: 'deliveries',
    // By webhook, because no index has all deliveries in the order of their ids.
    largest: `select greatest((select max(id) from $.queue), (
      select max(last.id) from $.webhooks w
      cross join lateral (select d.id from $.deliveries d where d.webhook_id = w.id order by d.id desc limit 1) as last
    ))`
  },
  { sequence: 'fences', rows: 'claims', largest: 'select max(fence) from $.queue' },
  { sequence: { table: 'events', column: 'seq' }, rows: 'events', largest: 'select max(seq) from $.events' },
  {
    sequence: { table: 'recent_changes', column: 'seq' },
    rows: 'changes',
    // Those that were moved have lower numbers than the second one.
    largest: `select nullif(greatest(
      (select max(seq) from $.recent_changes), (select reached_change_seq from $.change_state)
    ), 0)`
  },
  { sequence: { table: 'notices', column: 'id' }, rows: 'notices', largest: 'select max(id) from $.notices' }
]

/** Whether sequences are behind the ids in their tables, as after a restore of the rows alone. */
export async function checkSequences (context: DoctorContext): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const one of numbered) findings.push(...await checkSequence(one, context))
  return orOk(findings, `${numbered.length} are ahead of the ids in their tables`)
}

interface SequenceRow {
  name: string
  /** `null` if it was never used, or if the role may not see it. */
  last: string | null
  largest: string
  is_visible: boolean
}

async function checkSequence (
  { sequence, largest, rows }: Numbered, { query, quotedSchema }: DoctorContext
): Promise<Finding[]> {
  const isIdentity = typeof sequence === 'object'
  const [place, column] = isIdentity ? [sequence.table, sequence.column] : [sequence, null]
  const [row] = await query<SequenceRow>(`
    select c.oid::regclass::text as name, s.last_value::text as last, known.largest::text,
      has_sequence_privilege(c.oid, 'usage') or has_sequence_privilege(c.oid, 'select') as is_visible
    from (${largest.replaceAll('$', () => quotedSchema)}) as known (largest)
    join pg_class c on c.oid = case
      when $2::text is null then to_regclass($1) else pg_get_serial_sequence($1, $2)::regclass
    end
    join pg_namespace n on n.oid = c.relnamespace
    join pg_sequences s on s.schemaname = n.nspname and s.sequencename = c.relname
    where known.largest is not null`, [`${quotedSchema}.${place}`, column])
  if (row === undefined) return []
  if (!row.is_visible) {
    return [unknown(`the database user cannot see the next value of ${row.name}`,
      'run doctor as the owner of the schema to check it')]
  }
  if (row.last !== null && BigInt(row.last) >= BigInt(row.largest)) return []
  const problem = `the sequence ${row.name} is behind the ${rows}`
  return [fault(`${problem}: they have ids up to ${row.largest}, so new ids repeat old ones and fail`,
    `select setval('${row.name.replaceAll("'", "''")}', ${row.largest})`)]
}

const [usualDays, usualChangesDays] = [30, 90]
/** Workers prune once an hour, and may have been stopped for a while. */
const graceDays = 2
/** How many of the oldest events are looked at. */
const fewEvents = 1000

/** Whether old events and changes are deleted. */
export async function checkRetention ({ query, quotedSchema, flags }: DoctorContext): Promise<Finding[]> {
  const days = flags.integer('retention-days', 1, 3650) ?? usualDays
  const changesDays = flags.integer('changes-retention-days', 1, 3650) ?? usualChangesDays
  const [row] = await query<{ events: string | null, changes: string | null }>(`
    select (
      select to_char(min(e.recorded_at) at time zone 'UTC', 'YYYY-MM-DD')
      from (
        select e.seq, e.recorded_at from ${quotedSchema}.events e
        where e.recorded_at < clock_timestamp() - ($1::int + ${graceDays}) * interval '1 day'
        order by e.recorded_at limit ${fewEvents}
      ) as e
      where not exists (select from ${quotedSchema}.queue q where q.event_seq = e.seq)
        and not exists (
          select from ${quotedSchema}.deliveries d
          where d.event_seq = e.seq
            and d.created_at >= clock_timestamp() - ($1::int + ${graceDays}) * interval '1 day'
        )
    ) as events, (
      select to_char(min(c.changed_at) at time zone 'UTC', 'YYYY-MM-DD') from ${quotedSchema}.changes c
      where c.changed_at < clock_timestamp() - ($2::int + ${graceDays}) * interval '1 day'
    ) as changes`, [days, changesDays])
  const prune = `fastify-recruiting-api prune --retention-days ${days}`
  const option = '--changes-retention-days'
  return orOk([
    ...describeOld('events', row?.events ?? null, days, prune, '--retention-days'),
    ...describeOld('changes', row?.changes ?? null, changesDays, `${prune} ${option} ${changesDays}`, option)
  ], `no event is older than ${days} days, and no change than ${changesDays}`)
}

function describeOld (rows: string, oldest: string | null, days: number, command: string, option: string): Finding[] {
  if (oldest === null) return []
  const problem = `${rows} of ${oldest} are still there although they are kept for ${days} days`
  return [fault(`${problem}, so tables grow and personal data stays`,
    `start a worker, or run ${command}; if your servers keep them longer, run doctor with ${option} DAYS`)]
}

const maxListed = 1000
/** Ids of tenants whose slugs are not known. */
const integerOrUuid = /^(-?\d+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i

/** Whether webhooks and keys are stored by slug, although the servers have the option `tenantId`. */
export async function checkTenantIds ({ session, quotedSchema, flags }: DoctorContext): Promise<Finding[]> {
  if (!flags.has('tenant-ids')) return []
  const listed = await createTenants(session, quotedSchema).listIdsLikeSlugs(maxListed)
  const slugs = listed.filter((id) => !integerOrUuid.test(id))
  if (slugs.length === 0) return [ok('no webhooks and keys are stored by slug')]
  return [fault(
    `the webhooks and keys of ${formatNames(slugs)} are stored by slug: ` +
      'these keys get 401, and no events reach these webhooks',
    'run fastify-recruiting-api tenants use-ids')]
}

import { setTimeout as sleep } from 'node:timers/promises'
import { channelOf, createDue } from '../../../storages/postgres/deliveries/due.js'
import { createStopDeliveries } from '../../../storages/postgres/deliveries/queue.js'
import { createStats } from '../../../storages/postgres/deliveries/stats.js'
import { createTenants } from '../../../storages/postgres/tenants.js'
import { createHealth, createWebhookStore } from '../../../storages/postgres/webhooks.js'
import { createKeyBox, isSealed, isSealedByHost } from '../../../core/webhooks/secrets.js'
import { formatCount, formatNames } from '../terminal.js'
import { advice, type DoctorContext, fault, type Finding, ok, orOk, unknown } from './finding.js'

/** A sequence, and the largest id in use. Names have no schema. */
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
    // By webhook, because no index has all deliveries in id order.
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
    // Moved changes have lower numbers than the second one.
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
  /** `null` if it was never used. */
  last: string | null
  largest: string | null
  cache: string
}

async function checkSequence (
  { sequence, largest, rows }: Numbered, { query, quotedSchema }: DoctorContext
): Promise<Finding[]> {
  const isIdentity = typeof sequence === 'object'
  const [place, column] = isIdentity ? [sequence.table, sequence.column] : [sequence, null]
  const [row] = await query<SequenceRow>(`
    select c.oid::regclass::text as name, recorded.last::text, known.largest::text, s.seqcache::text as cache
    from (${largest.replaceAll('$', () => quotedSchema)}) as known (largest)
    join pg_class c on c.oid = case
      when $2::text is null then to_regclass($1) else pg_get_serial_sequence($1, $2)::regclass
    end
    join pg_sequence s on s.seqrelid = c.oid
    cross join lateral ${quotedSchema}.recorded_to_v1(c.oid::regclass) as recorded`, [`${quotedSchema}.${place}`, column])
  if (row === undefined) return []
  if (isIdentity && row.cache !== '1') {
    return [fault(`the sequence ${row.name} has cache ${row.cache}, so readers skip ${rows} that are committed later`,
      `alter sequence ${row.name} cache 1`)]
  }
  if (row.largest === null || BigInt(row.last ?? 0) >= BigInt(row.largest)) return []
  const problem = `the sequence ${row.name} is behind the ${rows}`
  return [fault(`${problem}: they have ids up to ${row.largest}, so new ids repeat old ones and fail`,
    `select setval('${row.name.replaceAll("'", "''")}', ${row.largest})`)]
}

const [usualDays, usualChangesDays] = [30, 90]
/** Workers prune once an hour, and may have been stopped for a while. */
const graceDays = 2
/** How many of the oldest events to check. */
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
  const problem = `${rows} of ${oldest} are still stored, although they are kept for ${days} days`
  return [fault(`${problem}, so tables grow and personal data stays`,
    `start a worker, or run ${command}; if your servers keep them longer, run doctor with ${option} DAYS`)]
}

const maxListed = 1000
/** Ids of tenants whose slugs are unknown. */
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

const usualDueSeconds = 300
const usualWaitSeconds = 3
const sampleMs = 100

/** Whether due deliveries are attempted in time. */
export async function checkDueDeliveries ({ session, quotedSchema, flags }: DoctorContext): Promise<Finding[]> {
  const { oldestDueMs } = await createStats(session, quotedSchema).stats()
  const seconds = Math.round(oldestDueMs / 1000)
  const limit = flags.integer('max-due-seconds') ?? usualDueSeconds
  if (seconds <= limit) return [ok(`the oldest has been due for ${seconds} s`)]
  return [fault(`the oldest has been due for ${seconds} s, so receivers get their notifications late`,
    'start a worker; if workers are running, add more or raise delivery.concurrency')]
}

/** Whether any process delivers: one that listens on the schema's channel, or claims deliveries. */
export async function checkWorkers (context: DoctorContext): Promise<Finding[]> {
  const waitMs = 1000 * (context.flags.integer('wait-seconds') ?? usualWaitSeconds)
  const startedAt = performance.now()
  // A worker behind a pooler is visible only while its last statement was a claim, once every pollMs.
  for (;;) {
    const { count, hidden } = await countWorkers(context)
    if (count > 0) return [ok(formatCount(count, 'worker connection'))]
    if (performance.now() - startedAt < waitMs) {
      await sleep(sampleMs)
      continue
    }
    if (hidden > 0) {
      return [unknown('the database user cannot see the statements of other users',
        'grant pg_monitor to the database user')]
    }
    return [fault('no process delivers, so events wait',
      'start one: a server without delivery: false, or a process with createRecruiting')]
  }
}

async function countWorkers ({ query, ...context }: DoctorContext): Promise<{ count: number, hidden: number }> {
  const [row] = await query<{ count: number, hidden: number }>(`
    select count(*) filter (where ${isWorker})::int as count,
      count(*) filter (where query = '<insufficient privilege>')::int as hidden
    from ${others}`, describeWorker(context))
  return { count: 0, hidden: 0, ...row }
}

const others = 'pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'
const isWorker = `(query = $1 or (
  starts_with(query, $2) and strpos(query, $3) > 0 and query_start > clock_timestamp() - interval '1 minute'
))`

/** Returns the parameters of `isWorker`. */
function describeWorker ({ schema, quotedSchema }: Pick<DoctorContext, 'schema' | 'quotedSchema'>): string[] {
  return [`listen "${channelOf(schema)}"`, '/* fastify-recruiting-api claim deliveries', `${quotedSchema}.`]
}

/** Lists the database users of visible workers. */
export async function listWorkerRoles ({ query, ...context }: DoctorContext): Promise<string[]> {
  const rows = await query<{ role: string }>(
    `select distinct usename::text as role from ${others} and ${isWorker} order by 1`, describeWorker(context))
  return rows.map(({ role }) => role)
}

/** Whether notifications are held, because the database is a copy or belongs to another environment. */
export async function checkCopies ({ query, quotedSchema, flags }: DoctorContext): Promise<Finding[]> {
  const [hold] = await query<{ reason: string }>(
    `select reason from ${quotedSchema}.find_hold_v1($1)`, [flags.text('environment') ?? null])
  const rows = await query<{ environment: string | null }>(`select environment from ${quotedSchema}.home`)
  const owner = rows.find((row) => row.environment !== null)?.environment ?? null
  if (hold === undefined) return [ok(owner === null ? 'no copy' : `no copy; it belongs to the environment ${owner}`)]
  const problem = hold.reason === 'copy'
    ? 'the database is a copy'
    : `the database belongs to the environment ${owner}`
  return [fault(`${problem}, so nothing is sent`, 'run fastify-recruiting-api adopt --deliver or --discard')]
}

const batchSize = 100
const maxCounted = 1000

/** Whether webhooks fail or were disabled. */
export async function checkFailing ({ session, quotedSchema }: DoctorContext): Promise<Finding[]> {
  const rows = await createHealth(session, quotedSchema).listFailing({ limit: maxCounted, maxPending: 1 })
  if (rows.length === 0) return [ok('none is failing or disabled')]
  const [disabled, failing] = [true, false].map((isDisabled) => rows
    .filter(({ webhook }) => (webhook.status === 'disabled') === isDisabled)
    .map(({ tenantSlug, webhook }) => `${webhook.id} of ${tenantSlug}`))
  return Object.entries({ disabled, failing }).flatMap(([status, names = []]) => names.length === 0
    ? []
    : [fault(`${names.length} ${status}, so their receivers get nothing or too little: ${formatNames(names)}`,
        'run fastify-recruiting-api webhooks failing, and inform their tenants')])
}

/** Whether the given keys decrypt every webhook secret. */
export async function checkSecrets (context: DoctorContext): Promise<Finding[]> {
  const hasKeys = context.secretKeys.length > 0
  const { closed, plain, sealedByHost } = await findClosed(context)
  const advised = plain === 0
    ? []
    : [advice(`the secrets of ${formatCount(plain, 'webhook')} are stored in plain text`,
        'set secretKeys in every process, then run fastify-recruiting-api reseal')]
  const byHost = sealedByHost === 0
    ? []
    : [ok(`the functions of secretKeys encrypted the secrets of ${formatCount(sealedByHost, 'webhook')}`)]
  const found = [...advised, ...byHost]
  if (closed.length === 0) return orOk(found, hasKeys ? 'the keys open all of them' : 'there are none')
  const count = formatCount(closed.length, 'webhook')
  const sealed = unknown(`the secrets of ${count} are encrypted`, 'add --secret-keys FILE to check them')
  if (!hasKeys) return [...found, sealed]
  return [...found, fault(`no key opens the secrets of ${count}, so their deliveries wait: ${formatNames(closed)}`,
    'add the missing key to secretKeys of your servers and to these keys. To change keys, begin with ' +
    '[oldKey, newKey] in every process, then use [newKey, oldKey], then run fastify-recruiting-api reseal')]
}

/**
 * Returns the webhooks whose secrets no key decrypts, and counts those with a plain secret or one encrypted by the
 * host.
 */
async function findClosed (
  { pool, session, schema, quotedSchema, secretKeys }: DoctorContext
): Promise<{ closed: string[], plain: number, sealedByHost: number }> {
  const stop = createStopDeliveries(session, quotedSchema)
  const webhooks = createWebhookStore(session, quotedSchema, stop, createDue(pool, session, schema))
  const box = createKeyBox(secretKeys)
  const closed: string[] = []
  let plain = 0
  let sealedByHost = 0
  let afterId = 0
  for (;;) {
    const batch = await webhooks.listSecrets({ afterId, limit: batchSize })
    for (const { tenantId, webhookId, secrets: stored, headers } of batch) {
      const sealed = [...stored, ...headers === null ? [] : [headers]]
      const byKeys = sealed.filter((secret) => !isSealedByHost(secret))
      const isOpen = byKeys.every((secret) => opens(() => box.open(secret, tenantId, webhookId)))
      if (byKeys.length < sealed.length) sealedByHost++
      if (!sealed.every(isSealed)) plain++
      if (!isOpen) closed.push(`${webhookId} of ${tenantId}`)
    }
    const last = batch.at(-1)
    if (last === undefined) return { closed, plain, sealedByHost }
    afterId = last.webhookId
  }
}

function opens (open: () => string): boolean {
  try {
    return open() !== ''
  } catch {
    return false
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { subscriptionLimits } from '../../../core/webhooks/subscriptions.js'
import { createKeyBox, isSealed, isSealedByHost } from '../../../core/webhooks/secrets.js'
import { channelOf, createDue } from '../../../storages/postgres/deliveries/due.js'
import { createStopDeliveries } from '../../../storages/postgres/deliveries/queue.js'
import { createStats } from '../../../storages/postgres/deliveries/stats.js'
import { createTenants } from '../../../storages/postgres/tenants.js'
import { quoteLiteral } from '../../../storages/postgres/sql.js'
import { createSubscriptionStore } from '../../../storages/postgres/subscriptions.js'
import { createWebhookStore } from '../../../storages/postgres/webhooks.js'
import { formatCount, formatNames } from '../terminal.js'
import {
  advice, type Check, type DoctorContext, fault, type Finding, findRows, grantMonitor, ok, unknown
} from './finding.js'

/** Sequences, what they number, and the largest number in use; `$` is the schema. */
const sequences: ReadonlyArray<[sequence: string, rows: string, largest: string]> = [
  ['webhook_ids', 'webhooks', 'select max(id) from $.webhooks'],
  // By webhook, because no index has all deliveries in id order.
  ['delivery_ids', 'deliveries', `select greatest((select max(id) from $.queue), (
    select max(last.id) from $.webhooks w
    cross join lateral (select d.id from $.deliveries d where d.webhook_id = w.id order by d.id desc limit 1) as last
  ))`],
  ['fences', 'claims', 'select max(fence) from $.queue'],
  ['events_seq_seq', 'events', 'select max(seq) from $.events'],
  // Moved changes have lower numbers than the second one.
  ['recent_changes_seq_seq', 'changes', `select nullif(greatest(
    (select max(seq) from $.recent_changes), (select reached_change_seq from $.change_state)
  ), 0)`],
  ['notices_id_seq', 'notices', 'select max(id) from $.notices']
]

/** Workers prune once an hour, and may have been stopped for a while. Only the oldest events are checked. */
const [usualDays, usualChangesDays, graceDays, fewEvents] = [30, 90, 2, 1000]
/** Ids of tenants whose slugs are unknown. */
const integerOrUuid = /^(-?\d+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i
const maxListed = 1000
const [usualDueSeconds, usualWaitSeconds, sampleMs] = [300, 3, 100]
const [maxOffsetMs, maxEventOffsetMs, latestEvents] = [5000, 60_000, 1000]

export const dataChecks: readonly Check[] = [{
  // They are behind after a restore of the rows alone.
  name: 'sequences',
  ok: `${sequences.length} are ahead of the ids in their tables`,
  find: ({ query, quotedSchema }) => findRows(query, `
    with used as (
      select c.oid, c.oid::regclass::text as name, s.seqcache, known.rows, known.largest, recorded.last
      from (${sequences.map(([sequence, rows, largest]) =>
        `select '${sequence}', '${rows}', (${largest.replaceAll('$', () => quotedSchema)})`).join(' union all ')}
      ) as known (sequence, rows, largest)
      join pg_class c on c.oid = to_regclass($1 || '.' || known.sequence)
      join pg_sequence s on s.seqrelid = c.oid
      cross join lateral ${quotedSchema}.recorded_to_v1(c.oid::regclass) as recorded
    )
    select format('the sequence %s has cache %s, so readers skip %s that are committed later', name, seqcache, rows)
      as text,
      format('alter sequence %s cache 1', name) as remedy
    from used where seqcache > 1 and rows in ('events', 'changes')
    union all
    select format('the sequence %s is behind the %s: they have ids up to %s, so new ids repeat old ones and fail', name,
      rows, largest), format('select setval(%L, %s)', name, largest)
    from used where coalesce(last, 0) < largest`, [quotedSchema])
}, {
  // A copy, or the database of another environment.
  name: 'copy',
  ok: 'no copy, and of no other environment',
  find: ({ query, quotedSchema, flags }) => findRows(query, `
    select case h.reason when 'copy' then 'the database is a copy'
        else format('the database belongs to the environment %s', (select min(environment) from ${quotedSchema}.home))
      end || ', so nothing is sent' as text, 'run fastify-recruiting-api adopt --deliver or --discard' as remedy
    from ${quotedSchema}.find_hold_v1($1) as h`, [flags.text('environment') ?? null])
}, {
  name: 'suspended',
  async find (context) {
    const { flags, now } = context
    const days = flags.integer('retention-days', 1, 3650) ?? usualDays
    const states = (await createTenants(...partsOf(context)).listStates()).flatMap(({ tenantId, suspendedSince }) =>
      suspendedSince === null ? [] : [{ tenantId, suspendedSince }])
    const old = states.filter(({ suspendedSince }) => Date.parse(suspendedSince) < now() - days * 86_400_000)
    if (old.length > 0) {
      return [advice(`${formatNames(old.map(({ tenantId }) => tenantId))} ${old.length === 1 ? 'has' : 'have'} been ` +
        `suspended for over ${days} days, and older deliveries have been deleted`,
      'run fastify-recruiting-api tenants resume TENANT --deliver or --skip, or tenants remove')]
    }
    const shown = states.map(({ tenantId, suspendedSince }) => `${tenantId} since ${suspendedSince}`)
    return [ok(shown.length === 0 ? 'no tenant is suspended' : `nothing is sent to ${formatNames(shown)}`)]
  }
}, {
  name: 'due deliveries',
  async find ({ session, quotedSchema, flags }) {
    const { oldestDueMs } = await createStats(session, quotedSchema).stats()
    const seconds = Math.round(oldestDueMs / 1000)
    const text = `the oldest has been due for ${seconds} s`
    return [seconds <= (flags.integer('max-due-seconds') ?? usualDueSeconds)
      ? ok(text)
      : fault(`${text}, so receivers get their notifications late`,
        'start a worker; if workers are running, add more or raise delivery.concurrency')]
  }
}, {
  name: 'agents',
  async find (context) {
    const { query, quotedSchema, flags } = context
    const { live, lagMs } = await createSubscriptionStore(...partsOf(context)).stats()
    const seconds = Math.round(lagMs / 1000)
    if (seconds > (flags.integer('max-due-seconds') ?? usualDueSeconds)) {
      return [fault(`events have waited for ${seconds} s to be queued for agents`,
        'start a worker; if workers are running, look for errors in their logs')]
    }
    const full = await query<{ tenant: string }>(`
      select tenant from ${quotedSchema}.webhooks where subscription_id is not null and expires_at > clock_timestamp()
      group by tenant having count(*) >= ${subscriptionLimits.perTenant} order by tenant`)
    return [full.length === 0
      ? ok(formatCount(live, 'subscription'))
      : advice(`${formatNames(full.map(({ tenant }) => tenant))} can have no more subscriptions of agents`,
        'ask the tenant which ones it needs, and end the others in the portal')]
  }
}, {
  // A process that listens on the schema's channel, or claims deliveries. Behind a pooler it is visible only while its
  // last statement was a claim, once every pollMs.
  name: 'workers',
  async find (context) {
    const { query, flags } = context
    const endsAt = performance.now() + 1000 * (flags.integer('wait-seconds') ?? usualWaitSeconds)
    for (;;) {
      const [{ count, hidden } = { count: 0, hidden: 0 }] = await query<{ count: number, hidden: number }>(`
        select count(*) filter (where ${isWorker(context)})::int as count,
          count(*) filter (where query = '<insufficient privilege>')::int as hidden
        from ${others}`)
      if (count > 0) return [ok(formatCount(count, 'worker connection'))]
      if (performance.now() >= endsAt) {
        return [hidden > 0
          ? unknown('the database user cannot see the statements of other users', grantMonitor)
          : fault('no process delivers, so events wait',
            'start one: a server without delivery: false, or a process with createRecruiting')]
      }
      await sleep(sampleMs)
    }
  }
}, {
  name: 'retention',
  ok: 'no event or change is older than it should be',
  find ({ query, quotedSchema, flags }) {
    const days = flags.integer('retention-days', 1, 3650) ?? usualDays
    const changesDays = flags.integer('changes-retention-days', 1, 3650) ?? usualChangesDays
    return findRows(query, `
      with oldest (rows, option, days, at) as (
        select 'events', '--retention-days', $1::int, min(e.recorded_at)
        from (
          select e.seq, e.recorded_at from ${quotedSchema}.events e
          where e.recorded_at < clock_timestamp() - ($1::int + ${graceDays}) * interval '1 day'
          order by e.recorded_at limit ${fewEvents}
        ) as e
        where not exists (select from ${quotedSchema}.queue q where q.event_seq = e.seq) and not exists (
          select from ${quotedSchema}.deliveries d where d.event_seq = e.seq
            and d.created_at >= clock_timestamp() - ($1::int + ${graceDays}) * interval '1 day'
        )
        union all
        select 'changes', '--changes-retention-days', $2::int, min(c.changed_at) from ${quotedSchema}.changes c
        where c.changed_at < clock_timestamp() - ($2::int + ${graceDays}) * interval '1 day'
      )
      select format('%s of %s are still stored, although they are kept for %s days, so tables grow and personal ' ||
        'data stays', rows, to_char(at at time zone 'UTC', 'YYYY-MM-DD'), days) as text,
        format('start a worker, or run fastify-recruiting-api prune --retention-days %s%s; if your servers keep ' ||
          'them longer, run doctor with %s DAYS', $1::int,
          case rows when 'changes' then format(' %s %s', option, days) end, option) as remedy
      from oldest where at is not null`, [days, changesDays])
  }
}, {
  // Only if the servers have the option tenantId.
  name: 'tenant ids',
  async find (context) {
    if (!context.flags.has('tenant-ids')) return []
    const listed = await createTenants(...partsOf(context)).listIdsLikeSlugs(maxListed)
    const slugs = listed.filter((id) => !integerOrUuid.test(id))
    return slugs.length === 0
      ? [ok('no webhooks and keys are stored by slug')]
      : [fault(`the webhooks and keys of ${formatNames(slugs)} are stored by slug: these keys get 401, and no events ` +
          'reach these webhooks', 'run fastify-recruiting-api tenants use-ids')]
  }
}, {
  name: 'clocks',
  find: checkClocks
}, {
  name: 'secrets',
  find: checkSecrets
}]

/** The parts of `createWebhookStore` and `createTenants`. */
function partsOf ({ pool, session, schema, quotedSchema }: DoctorContext) {
  const stop = createStopDeliveries(session, quotedSchema)
  return [session, quotedSchema, stop, createDue(pool, session, schema)] as const
}

const others = 'pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'

function isWorker ({ schema, quotedSchema }: DoctorContext): string {
  return `(query = ${quoteLiteral(`listen "${channelOf(schema)}"`)} or (
    starts_with(query, '/* fastify-recruiting-api claim deliveries')
    and strpos(query, ${quoteLiteral(`${quotedSchema}.`)}) > 0
    and query_start > clock_timestamp() - interval '1 minute'
  ))`
}

/** Lists the database users of visible workers. */
export async function listWorkerRoles (context: DoctorContext): Promise<string[]> {
  const rows = await context.query<{ role: string }>(
    `select distinct usename::text as role from ${others} and ${isWorker(context)} order by 1`)
  return rows.map(({ role }) => role)
}

/**
 * Whether this machine, the server and the machines that emitted the last events agree on the time. An event's id
 * contains the time of its machine.
 */
async function checkClocks ({ query, quotedSchema, now }: DoctorContext): Promise<Finding[]> {
  const before = now()
  const [row] = await query<{ time: number, event_ms: number }>(`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as time, (
      select o.ms from (
        select (('x0000' || substr(e.id, 5, 12))::bit(64)::bigint
          - extract(epoch from e.recorded_at) * 1000)::float8 as ms
        from (select * from ${quotedSchema}.events order by seq desc limit ${latestEvents}) as e
        where e.id ~ '^evt_[0-9a-f]{32}$' and e.recorded_at > clock_timestamp() - interval '1 hour'
      ) as o where abs(o.ms) < 1e10 order by abs(o.ms) desc limit 1
    ) as event_ms`)
  const [ownMs, uncertainMs] = [(before + now()) / 2 - Number(row?.time), (now() - before) / 2]
  const eventMs = row?.event_ms ?? 0
  const describe = (ms: number): string =>
    `${Math.abs(ms / 1000).toFixed(1)} s ${ms > 0 ? 'ahead of' : 'behind'} the server`
  const problem = Math.abs(eventMs) > maxEventOffsetMs
    ? `a machine that emits events is ${describe(eventMs)}, and receivers reject its notifications`
    : Math.abs(ownMs) - uncertainMs > maxOffsetMs
      ? `this machine is ${describe(ownMs)}, and receivers reject notifications that are minutes off`
      : null
  if (problem !== null) return [fault(problem, 'synchronize the clocks of all machines, for example with chrony')]
  return [uncertainMs > maxOffsetMs
    ? unknown('the server took too long to return its time', 'run the command again')
    : ok(`this machine is ${describe(ownMs)}`)]
}

/** Whether the given keys decrypt every webhook secret. */
async function checkSecrets (context: DoctorContext): Promise<Finding[]> {
  const webhooks = createWebhookStore(...partsOf(context))
  const { secretKeys } = context
  const box = createKeyBox(secretKeys)
  const closed: string[] = []
  let [plain, sealedByHost, afterId] = [0, 0, 0]
  for (let batch; batch === undefined || batch.length > 0;) {
    batch = await webhooks.listSecrets({ afterId, limit: maxListed })
    for (const { tenantId, webhookId, secrets, headers } of batch) {
      const sealed = [...secrets, ...headers === null ? [] : [headers]]
      const byKeys = sealed.filter((secret) => !isSealedByHost(secret))
      if (byKeys.length < sealed.length) sealedByHost++
      if (!sealed.every(isSealed)) plain++
      if (!byKeys.every((secret) => opens(() => box.open(secret, tenantId, webhookId)))) {
        closed.push(`${webhookId} of ${tenantId}`)
      }
      afterId = webhookId
    }
  }
  const hasKeys = secretKeys.length > 0
  const secretsOf = (count: number): string => `the secrets of ${formatCount(count, 'webhook')}`
  const found: Finding[] = []
  if (plain > 0) {
    found.push(advice(`${secretsOf(plain)} are stored in plain text`,
      'set secretKeys in every process, then run fastify-recruiting-api reseal'))
  }
  if (sealedByHost > 0) found.push(ok(`the functions of secretKeys encrypted ${secretsOf(sealedByHost)}`))
  if (closed.length > 0) {
    found.push(hasKeys
      ? fault(`no key opens ${secretsOf(closed.length)}, so their deliveries wait: ${formatNames(closed)}`,
        'add the missing key to secretKeys of your servers and to these keys. To change keys, begin with ' +
        '[oldKey, newKey] in every process, then use [newKey, oldKey], then run fastify-recruiting-api reseal')
      : unknown(`${secretsOf(closed.length)} are encrypted`, 'add --secret-keys FILE to check them'))
  }
  return found.length > 0 ? found : [ok(hasKeys ? 'the keys open all of them' : 'there are none')]
}

function opens (open: () => string): boolean {
  try {
    return open() !== ''
  } catch {
    return false
  }
}

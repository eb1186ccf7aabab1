import { setTimeout as sleep } from 'node:timers/promises'
import { channelOf, createDue } from '../../postgres/deliveries/due.js'
import { createStopDeliveries } from '../../postgres/deliveries/queue.js'
import { createStats } from '../../postgres/deliveries/stats.js'
import { createHealth, createWebhookStore } from '../../postgres/webhooks.js'
import { createKeyBox, isSealed, isSealedByHost } from '../../webhooks/secrets.js'
import { formatCount, formatNames } from '../terminal.js'
import { advice, type DoctorContext, fault, type Finding, ok, orOk, unknown } from './finding.js'

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

/** Whether any process delivers: one that listens on the channel of the schema, or claims deliveries. */
export async function checkWorkers (context: DoctorContext): Promise<Finding[]> {
  const waitMs = 1000 * (context.flags.integer('wait-seconds') ?? usualWaitSeconds)
  const startedAt = performance.now()
  // A worker behind a pooler is seen only while its last statement was a claim, once every pollMs.
  for (;;) {
    const { count, hidden } = await countWorkers(context)
    if (count > 0) return [ok(`${formatCount(count, 'connection')} of workers`)]
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

/** Lists the database users of the workers that can be seen. */
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

/** Whether the given keys open every webhook secret. */
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

/** Returns the webhooks whose secrets no key opens, and the numbers of those with a plain secret, or the host's. */
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

import type { DeliveryStore, ErasedEvents } from '../../ports/index.js'
import {
  createClaim,
  createNotices,
  createPrune,
  createRecordAttempts,
  createRelease,
  type StopDeliveries
} from './queue.js'
import { createDeliveryLog } from './log.js'
import type { Due } from './due.js'
import { parseRecorded, recordCall, recordValues } from './record.js'
import { createReplay, createRetry } from './replay.js'
import { queryWithoutJit, type Session } from '../session.js'
import { createReadStats, createReadTenantStats, pendingText } from './stats.js'
import { createListSubjectEvents } from './subject-events.js'
import { callInTransaction, runInTransaction } from '../handles/transaction.js'

/** How many events of a subject a call erases. */
const mostErased = 200_000

interface Sessions {
  session: Session
  /** With a longer time limit. */
  patient: Session
}

/** Stores deliveries in PostgreSQL; `schema` is quoted. */
export function createDeliveryStore (
  { session, patient }: Sessions,
  schema: string,
  stop: StopDeliveries,
  due: Due
): DeliveryStore {
  const recordEvent = recordCall(schema)
  const eraseSubject = `${schema}.erase_subject_v1($1, $2, $3)`
  const notices = createNotices(session, schema, stop)
  const release = createRelease(session, schema)
  const { replay, countReplay } = createReplay(patient, schema, stop)
  const log = createDeliveryLog({ session, patient }, schema)
  const retry = createRetry(session, schema, stop, log.find)

  return {
    ...log,
    claimDue: createClaim(session, schema),
    recordAttempts: createRecordAttempts(session, schema, notices),
    claimNotices: notices.claimNotices,
    confirmNotice: notices.confirmNotice,
    prune: createPrune(patient, schema, stop),
    stats: createReadStats(session, schema),
    tenantStats: createReadTenantStats(session, schema),
    listSubjectEvents: createListSubjectEvents(session, schema),

    async record (tenant, event, transaction) {
      const values = recordValues(tenant, event)
      if (transaction === undefined) {
        const [row] = await session.query<{ recorded: string }>(
          'record event',
          `select ${recordEvent} as recorded`,
          values
        )
        const recorded = parseRecorded(String(row?.recorded), tenant, event)
        if (recorded.deliveries > 0) due.notify()
        return recorded
      }
      const recorded = parseRecorded(await callInTransaction(transaction, recordEvent, values), tenant, event)
      if (recorded.deliveries > 0) due.notifyLater()
      return recorded
    },

    async release (leases) {
      if (leases.length === 0) return
      await release(leases)
      due.notify()
    },

    async hasPending (withinMs) {
      const rows = await queryWithoutJit(session, 'look for pending deliveries', pendingText(schema), [withinMs])
      return rows.length > 0
    },

    async replay (tenant, webhookId, selection) {
      const result = await replay(tenant, webhookId, selection)
      if (result !== null && result.queued > 0) due.notify()
      return result
    },

    countReplay,

    async retry (tenant, webhookId, id) {
      const delivery = await retry(tenant, webhookId, id)
      if (delivery !== null) due.notify()
      return delivery
    },

    async erase (tenant, subject, transaction) {
      return runInTransaction(patient, 'erase subject', transaction, async (call) =>
        JSON.parse(await call(eraseSubject, [tenant, subject, mostErased])) as ErasedEvents
      )
    },

    onDue: due.onDue
  }
}

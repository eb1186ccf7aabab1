import type { Clock, Creator, EndReason, Id } from '../ports/index.js'
import { waitUpTo } from '../shared/clock.js'
import { isObject, readField } from '../shared/fields.js'
import { type Logger, callHost } from './logger.js'

/** A record of who did what, without personal data. */
export interface AuditEntry {
  /**
   * `request`: a request to the API. `code`: a call of `app.recruiting`. `command`: the command
   * `fastify-recruiting-api`. `service`: the service by itself, such as the end of an agent's subscription.
   */
  source: 'request' | 'code' | 'command' | 'service'
  /** When the response was sent, or the call or command finished: an RFC 3339 date-time in UTC. */
  time: string
  /** The id in `x-request-id` and in the log; `null` without a request. */
  requestId: string | null
  /**
   * The slug in the path or in the call, or the id in a call with a `tenantId`; `null` if the call is for all tenants.
   * In a request, the tenant is only known to exist if there is a `keyId` or an `actor`.
   */
  tenantSlug: string | null
  /**
   * The tenant's id when the key was checked or the call was made; without the option `tenantId`, its slug. `null` if a
   * request had no valid key or session, if a call is for all tenants, and for commands.
   */
  tenantId: string | null
  /**
   * The client's IP address, as determined by your server's `trustProxy`; `null` for Unix sockets and without a
   * request.
   */
  address: string | null
  /**
   * The id that the key lookup returned, even if the key was used outside its `allowedIps` and got 401. `null` if the
   * key is not valid, for portal sessions, code and commands.
   */
  keyId: string | null
  /**
   * The actor of a portal session, including one that `createSession` created, of `as(actor)`, or of the command;
   * `null` for a key.
   */
  actor: string | null
  /** Such as `listCandidates`, even from code, or `keys revoke` for a command; `null` for an unknown path. */
  operationId: string | null
  /** Whether the operation is deprecated, to find clients that still use it. */
  isDeprecated: boolean
  /** Whether the response repeats an earlier one with the same `Idempotency-Key`, so that nothing was changed. */
  isRepeated: boolean
  /** The record that was read or changed; `null` for lists, and if the request was rejected first. */
  resource: AuditedResource | null
  /** The HTTP method, for example `GET`; `null` without a request. */
  method: string | null
  /** Names of the filters in the query, for example `filter[q]`. Never their values. */
  filters: readonly string[]
  /** HTTP status of the response; `null` without a request. */
  status: number | null
  /** Number of items in the response or result; `null` without items, as for errors and HEAD. */
  rowCount: number | null
}

/** A record that a request or a call was about. */
export interface AuditedResource {
  /** Such as `candidate`, `webhook`, or the `config.resource` of your own route. */
  kind: string
  id: Id
  /** Who created the API key or the webhook. Absent for other records, and if the response or result is without it. */
  createdBy?: Creator
  /** Why the service ended an agent's subscription. Absent otherwise. */
  endReason?: EndReason
}

/** Adds a record's creator to the audited resource. */
export function withCreator (resource: AuditedResource, record: unknown): AuditedResource {
  const createdBy = readField(record, 'created_by')
  const hasCreator = ['webhook', 'api_key'].includes(resource.kind) && isObject(createdBy)
  return hasCreator ? { ...resource, createdBy: createdBy as Creator } : resource
}

/**
 * Receives an entry after each response, and after each call from code that succeeded. Errors that it throws are
 * logged. Closing waits for the promises that it returns.
 */
export type AuditListener = (entry: AuditEntry) => unknown

export type UndatedEntry = Omit<AuditEntry, 'time'>

export type Auditor = ReturnType<typeof createAuditor>

export function createAuditor (
  listener: AuditListener, log: Logger, { clock, closeGraceMs }: { clock: Clock, closeGraceMs: number }
) {
  const pending = new Set<Promise<unknown>>()

  function keep (promise: Promise<unknown>): void {
    const kept = promise.catch(() => {}).finally(() => pending.delete(kept))
    pending.add(kept)
  }

  async function empty (): Promise<void> {
    while (pending.size > 0) await Promise.all(pending)
  }

  return {
    /** Passes on an entry with the current time. Never throws. */
    report (entry: UndatedEntry, findLog = () => log): void {
      const time = new Date(clock.now()).toISOString()
      const written = callHost(
        () => listener({ ...entry, time }),
        (err) => findLog().error({ err }, 'the onAudit option failed')
      )
      if (isObject(written)) keep(Promise.resolve(written))
    },
    /** Makes `settle` wait for a later entry. Returns a function that ends the wait. */
    expect (): () => void {
      let end = (): void => {}
      keep(new Promise<void>((resolve) => { end = resolve }))
      return end
    },
    /** Waits up to `closeGraceMs` until every entry was written. */
    async settle (): Promise<void> {
      await waitUpTo(empty(), closeGraceMs, clock)
      if (pending.size > 0) log.error({ entries: pending.size }, 'audit entries were not written before the close')
    }
  }
}

/** The parts of an entry about a call from code. */
export type AuditedCall = Pick<AuditEntry, 'operationId'> &
  Partial<Pick<AuditEntry, 'tenantSlug' | 'tenantId' | 'actor' | 'resource' | 'filters' | 'rowCount'>>

/** Receives a call from code after it succeeded. */
export type CallReport = (call: AuditedCall) => void

/** Returns an entry without a request. */
export function describeCall (
  source: Exclude<AuditEntry['source'], 'request'>, caller: string | null, call: AuditedCall
): UndatedEntry {
  const {
    operationId, tenantSlug = null, tenantId = null, actor = caller, resource = null, filters = [], rowCount = null
  } = call
  return {
    source,
    requestId: null,
    tenantSlug,
    tenantId,
    address: null,
    keyId: null,
    actor,
    operationId,
    isDeprecated: false,
    isRepeated: false,
    resource,
    method: null,
    filters,
    status: null,
    rowCount
  }
}

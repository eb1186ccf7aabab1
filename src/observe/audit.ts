import type { Id } from '../ports/index.js'
import { type Logger, callHost } from './logger.js'

/** A record of who did what, without personal data. */
export interface AuditEntry {
  /**
   * `request`: a request to the API. `code`: a call of `app.recruiting`. `command`: the command
   * `fastify-recruiting-api`.
   */
  source: 'request' | 'code' | 'command'
  /** The id in `x-request-id` and in the log; `null` for code and commands. */
  requestId: string | null
  /**
   * The slug in the path or in the call, or the id of a call with a `tenantId`; `null` if the call is for all
   * tenants. That of a request is known to be a tenant only if there is a `keyId` or an `actor`.
   */
  tenantSlug: string | null
  /**
   * The id that the key lookup returned; `null` if the key was rejected, for a session of the portal, for code and
   * commands.
   */
  keyId: string | null
  /** The actor of a session of the portal, of `recruiting.as(actor)`, or of the command; `null` for a key. */
  actor: string | null
  /** For example `listCandidates`, also from code, or `keys revoke` for a command; `null` for an unknown path. */
  operationId: string | null
  /** Whether the operation is deprecated, to find out who still uses it. */
  isDeprecated: boolean
  /** The record that was read or changed; `null` for lists, and if the request was rejected first. */
  resource: AuditedResource | null
  /** The HTTP method, for example `GET`; `null` for code and commands. */
  method: string | null
  /** Names of the filters in the query, for example `filter[q]`. Never their values. */
  filters: readonly string[]
  /** HTTP status of the response; `null` for code and commands. */
  status: number | null
  /** Number of items in the response or the result; `null` if there are none, as for errors and HEAD. */
  rowCount: number | null
}

/** A record that a request or a call was about. */
export interface AuditedResource {
  /** For example `candidate`, `webhook`, or the `config.resource` of your own route. */
  kind: string
  id: Id
}

/**
 * Receives an entry after each response, and after each call from code that succeeded. Errors that it throws are
 * logged.
 */
export type AuditListener = (entry: AuditEntry) => unknown

/** Calls the listener with an entry. Never throws. */
export function reportAudit (listener: AuditListener, entry: AuditEntry, findLog: () => Logger): void {
  callHost(() => listener(entry), (err) => findLog().error({ err }, 'the onAudit option failed'))
}

/** The parts of an entry about a call from code. */
export type AuditedCall = Pick<AuditEntry, 'operationId'> &
  Partial<Pick<AuditEntry, 'tenantSlug' | 'resource' | 'filters' | 'rowCount'>>

/** Returns the entry about a call from code or of a command. */
export function describeCall (source: 'code' | 'command', actor: string | null, call: AuditedCall): AuditEntry {
  const { operationId, tenantSlug = null, resource = null, filters = [], rowCount = null } = call
  return {
    source,
    requestId: null,
    tenantSlug,
    keyId: null,
    actor,
    operationId,
    isDeprecated: false,
    resource,
    method: null,
    filters,
    status: null,
    rowCount
  }
}

import type { FastifyRequest } from 'fastify'
import { keyOperations, ownKeyOperations } from '../../api/keys.js'
import { webhookScopes } from '../../api/scopes.js'
import { maxWebhooks } from '../../api/webhooks.js'
import { createKeyOperations, type KeyCreator } from '../../keys/operations.js'
import type { Limits } from '../limits.js'
import type { PortalKeysSettings } from '../../keys/options.js'
import type { KeyStore, PublishedFields, WebhookStore } from '../../ports/index.js'
import { runInPlace, withoutPlaces } from '../../shared/connections.js'
import { isCapable, readCaller, readCreator, stateOf } from '../request.js'
import { type ErrorDetail, guardPort, HttpError } from '../wire-errors.js'
import { type ApiOperation, perform } from './operations.js'

export function listOwnKeyOperations (limits: Limits | null): ApiOperation[] {
  return perform(ownKeyOperations, {
    async own (_given, request) {
      const { access: { caller: { keyId, scopes, fields }, allowedIps, key } } = stateOf(request)
      if (key === null) throw new HttpError('forbidden')
      const limit = await limits?.describe(request)
      return {
        id: keyId,
        name: key.name,
        scopes,
        allowed_ips: allowedIps,
        candidate_fields: fields?.candidate ?? null,
        job_fields: fields?.job ?? null,
        expires_at: key.expiresAt,
        rate_limit: limit ? { max: limit.max, window_seconds: Math.ceil(limit.windowMs / 1000) } : null
      }
    }
  })
}

export function listKeyOperations (
  store: KeyStore,
  webhooks: WebhookStore,
  settings: PortalKeysSettings,
  { candidates: candidateFields, jobs: jobFields }: Pick<PublishedFields, 'candidates' | 'jobs'>
): ApiOperation[] {
  const rules = {
    ...settings,
    maxWebhooks,
    prefix: store.prefix,
    forbid: (message?: string) =>
      new HttpError('forbidden', message === undefined ? [] : [{ ...authorization, message }])
  }
  const operationsOf = createKeyOperations(guardPort(store), guardPort(webhooks), rules)
  const inPlace = createKeyOperations(guardPort(withoutPlaces(store)), guardPort(withoutPlaces(webhooks)), rules)
  return perform(keyOperations({ ...settings, candidateFields, jobFields }), {
    list: ({ tenant, input }, request) => keysOf(request).list(tenant, input),
    create: ({ tenant, input, keep }, request) => keysOf(request).create(tenant, input, keep),
    rotate: ({ tenant, id, input, keep }, request) => keysOf(request).rotate(tenant, String(id), input, keep),
    revoke ({ tenant, id, input }, request) {
      if (input.webhooks === 'disable') assertManagesWebhooks(request)
      // One place for all calls, so that a full share cannot interrupt it.
      return runInPlace(stateOf(request).server.connections, tenant.id, () =>
        inPlace(readKeyCreator(request)).revoke(tenant, String(id), input))
    }
  })

  function keysOf (request: FastifyRequest) {
    return operationsOf(readKeyCreator(request))
  }
}

/** The place of a request's key, for the details of an error. */
const authorization: Omit<ErrorDetail, 'message'> = { in: 'header', field: 'authorization' }

function assertManagesWebhooks (request: FastifyRequest): void {
  const { scopes } = readCaller(request)
  if (webhookScopes.every((scope) => scopes.includes(scope)) && isCapable(request, 'write')) return
  const message = 'needs both scopes of webhooks, or the capability write, to disable webhooks'
  throw new HttpError('forbidden', [{ ...authorization, message }])
}

function readKeyCreator (request: FastifyRequest): KeyCreator {
  const { caller: { scopes, fields }, allowedIps, capabilities } = stateOf(request).access
  return {
    by: readCreator(request),
    scopes: capabilities === null ? scopes : null,
    allowedIps: allowedIps && [...allowedIps],
    candidateFields: fields?.candidate ? [...fields.candidate] : null,
    jobFields: fields?.job ? [...fields.job] : null
  }
}

import type { FastifyRequest } from 'fastify'
import { manageKeysScope } from '../../keys/api-key.js'
import {
  createKeyOperations, type CreateKeyInput, type KeyCreator, type KeyOperations
} from '../../keys/operations.js'
import type { PortalKeysSettings } from '../../options/options.js'
import type { KeyStore, PublishedFields } from '../../ports/index.js'
import type { PagingQuery } from '../../shared/paging.js'
import { stateOf } from '../request.js'
import {
  ApiKey, ApiKeyParams, ApiKeyQuery, createApiKeyBody, CreatedApiKey, RotateApiKey, RotatedApiKey
} from '../schemas/api-keys.js'
import { guardPort, HttpError } from '../wire-errors.js'
import type { ApiOperation } from './operations.js'

const common = {
  tag: 'api_keys',
  scopes: [manageKeysScope],
  capabilities: ['keys'],
  resource: 'api_key',
  // An agent must not create keys, which outlive it.
  hints: false
} as const

/** Returns the operations on the keys of a tenant. */
export function keyOperations (
  store: KeyStore, settings: PortalKeysSettings, published: Pick<PublishedFields, 'candidates' | 'jobs'>
): ApiOperation[] {
  const operationsOf = createKeyOperations(guardPort(store), {
    ...settings,
    prefix: store.prefix,
    forbid: () => new HttpError('forbidden')
  })
  const createBody = createApiKeyBody({ ...settings, candidateFields: published.candidates, jobFields: published.jobs })
  const keys = (request: FastifyRequest): KeyOperations => operationsOf(readCreator(request))
  return [
    {
      ...common,
      operationId: 'listApiKeys',
      method: 'GET',
      path: '/api_keys',
      summary: 'List the API keys',
      description: 'Returns all keys of the tenant, also expired and revoked ones. The keys themselves are not stored.',
      input: ApiKeyQuery,
      item: ApiKey,
      shape: 'page',
      results: { 200: 'A page of keys' },
      run: (request, { tenant, input }) => keys(request).list(tenant, input as PagingQuery)
    },
    {
      ...common,
      operationId: 'createApiKey',
      method: 'POST',
      path: '/api_keys',
      summary: 'Create an API key',
      description:
        'The response contains the key, which is not shown again. A key never gets a scope, network or field ' +
        `that its creator does not have. A tenant can have up to ${settings.maxKeys} valid keys that were not replaced.`,
      input: createBody,
      item: CreatedApiKey,
      shape: 'one',
      returnsSecret: true,
      results: { 201: 'The key' },
      run: (request, { tenant, input }) => keys(request).create(tenant, input as CreateKeyInput)
    },
    {
      ...common,
      operationId: 'rotateApiKey',
      method: 'POST',
      path: '/api_keys/:id/rotate',
      summary: 'Rotate an API key',
      description:
        'Creates a key with the same name, scopes, limits and expiry date. Both keys are valid during the ' +
        'grace period. Needs every scope, network and field of the key.',
      params: ApiKeyParams,
      input: RotateApiKey,
      item: RotatedApiKey,
      shape: 'one',
      returnsSecret: true,
      results: { 200: 'The key that replaces the previous one' },
      run: (request, { tenant, id, input }) => {
        return keys(request).rotate(tenant, String(id), input as { grace_period_seconds: number })
      }
    },
    {
      ...common,
      operationId: 'revokeApiKey',
      method: 'DELETE',
      path: '/api_keys/:id',
      summary: 'Revoke an API key',
      description: 'The key stops working within seconds. It stays in the list.',
      params: ApiKeyParams,
      shape: 'none',
      results: { 204: 'The key is revoked' },
      run: async (request, { tenant, id }) => await keys(request).revoke(tenant, String(id)) ? {} : null
    }
  ]
}

function readCreator (request: FastifyRequest): KeyCreator {
  const { caller: { keyId, actor, scopes, fields }, allowedIps, capabilities } = stateOf(request).access
  return {
    name: actor ?? String(keyId),
    scopes: capabilities === null ? scopes : null,
    allowedIps: allowedIps && [...allowedIps],
    candidateFields: fields?.candidate ? [...fields.candidate] : null,
    jobFields: fields?.job ? [...fields.job] : null
  }
}

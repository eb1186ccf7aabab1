import type { KeySortField } from '../ports/index.js'
import { pagingQuery } from '../shared/paging.js'
import { CreatedBy, DateTimeOf, Nullable, OneOf, Type } from '../shared/typebox.js'
import { operation } from './operation.js'
import { manageKeysScope } from './scopes.js'

const scopesExample = ['candidates:read', 'jobs:read']
const networksExample = ['203.0.113.0/24']
const idExample = 'key_4f3c0a6d5b8e4a7c9d1e2f3a4b5c6d7e'

const Texts = Type.Array(Type.String())

const Networks = Type.Array(Type.String(), {
  description: 'Networks that the key can be used from, as CIDRs',
  examples: [networksExample]
})

export const ApiKey = Type.Object({
  id: Type.String({ examples: [idExample] }),
  name: Nullable(Type.String({ examples: ['CRM sync'], description: 'null for a key without a name' })),
  scopes: Type.Array(Type.String(), { examples: [scopesExample] }),
  allowed_ips: Nullable({ ...Networks, description: `${Networks.description}; null for any address` }),
  candidate_fields: Nullable({
    ...Texts, description: 'The candidate fields that the key can read besides `id`; null for all', examples: [null]
  }),
  job_fields: Nullable({
    ...Texts, description: 'The job fields that the key can read besides `id`; null for all', examples: [null]
  }),
  start: Nullable(Type.String({
    description: 'The first characters after the prefix, to identify the key', examples: ['4fQz']
  })),
  created_at: DateTimeOf('When the key was created'),
  created_by: CreatedBy,
  expires_at: Nullable(DateTimeOf('When the key expires; null for never')),
  replaced: Type.Boolean({
    description: 'Whether another key has replaced it. It then expires at `expires_at`', examples: [false]
  }),
  last_used_at: Nullable(DateTimeOf('Accurate to two minutes; null if the key was never used')),
  revoked_at: Nullable(DateTimeOf('null unless the key was revoked'))
}, { title: 'ApiKey' })

export const OwnApiKey = Type.Object({
  id: ApiKey.properties.id,
  name: ApiKey.properties.name,
  scopes: ApiKey.properties.scopes,
  allowed_ips: ApiKey.properties.allowed_ips,
  candidate_fields: ApiKey.properties.candidate_fields,
  job_fields: ApiKey.properties.job_fields,
  expires_at: ApiKey.properties.expires_at,
  rate_limit: Nullable(Type.Object({
    max: Type.Integer({ description: 'Maximum number of requests in a window', examples: [1000] }),
    window_seconds: Type.Integer({ description: 'The length of a window', examples: [60] })
  }, { description: 'The limit of requests, which other keys of the tenant may share; null for none' }))
}, { title: 'OwnApiKey' })

const key = Type.String({
  description: 'The key itself, returned only in this response',
  examples: ['rk_4fQzV7nE2mXk9RbT0cYwL5sHdJ8uGaP3iK6oN1qZxWvB4hXyTqA']
})

export const CreatedApiKey = Type.Object({ ...ApiKey.properties, key }, { title: 'CreatedApiKey' })

export const RotatedApiKey = Type.Object({
  ...ApiKey.properties,
  key,
  previous_key_expires_at: Nullable(DateTimeOf('When the previous key expires'))
}, { title: 'RotatedApiKey' })

export const RevokedApiKey = Type.Object({
  ...ApiKey.properties,
  children_count: Type.Integer({
    description: 'Its children that were valid: the keys that it created, the keys that replace them, and their children',
    examples: [0]
  }),
  webhooks_count: Type.Integer({
    description: 'The webhooks that it created, or a key that it replaced. With `children`, those of its children too',
    examples: [2]
  })
}, { title: 'RevokedApiKey' })

const RevokeQuery = Type.Object({
  children: OneOf(['true', 'false'], { default: 'false', description: 'Whether to revoke its valid children too' }),
  webhooks: OneOf(['keep', 'disable'], {
    default: 'keep', description: 'disable makes its webhooks inactive. With `children`, those of its children too'
  })
}, { additionalProperties: false })

export const maxNetworks = 100

const sortFields: readonly KeySortField[] = ['id', 'created_at']

const ApiKeyQuery = Type.Object(pagingQuery(sortFields, '-created_at'), { additionalProperties: false })

const ApiKeyParams = Type.Object({
  id: Type.String({ description: 'The id of the key', examples: [idExample] })
})

/** The values that a new key can have, and how many valid keys a tenant can have. */
export interface KeyChoices {
  scopes: readonly string[]
  candidateFields: readonly string[]
  jobFields: readonly string[]
  maxDays: number
  maxKeys: number
}

export function createApiKeyBody ({ scopes, candidateFields, jobFields, maxDays }: KeyChoices) {
  const fields = (names: readonly string[], what: string) =>
    Type.Optional(
      Nullable(
        Type.Array(OneOf(names.filter((name) => name !== 'id')), {
          uniqueItems: true,
          maxItems: names.length,
          description:
            `The ${what} fields that the key can read besides \`id\`. Absent or null: all that its creator can read`,
          examples: [null]
        })
      )
    )
  return Type.Object({
    name: Type.String({
      minLength: 1,
      description: '1 to 255 characters after trimming, without control characters',
      examples: ['CRM sync']
    }),
    scopes: Type.Array(OneOf(scopes), {
      minItems: 1,
      maxItems: scopes.length,
      uniqueItems: true,
      description: 'Scopes that the creator also has',
      examples: [scopes.slice(0, 2)]
    }),
    allowed_ips: Type.Optional(Nullable(Type.Array(Type.String({ maxLength: 64 }), {
      minItems: 1,
      maxItems: maxNetworks,
      description: `${Networks.description}. Absent or null: any address, or the networks of the creating key`,
      examples: [networksExample]
    }))),
    candidate_fields: fields(candidateFields, 'candidate'),
    job_fields: fields(jobFields, 'job'),
    expires_in_days: Type.Integer({
      minimum: 1, maximum: maxDays, default: maxDays, description: 'Days until the key expires'
    })
  }, { title: 'CreateApiKey', additionalProperties: false })
}

const RotateApiKey = Type.Object({
  grace_period_seconds: Type.Integer({
    minimum: 0, maximum: 604800, default: 86400, description: 'Seconds for which the previous key stays valid'
  })
}, { title: 'RotateApiKey', additionalProperties: false })

const common = {
  tag: 'api_keys',
  scopes: [manageKeysScope],
  capabilities: ['keys'],
  resource: 'api_key',
  // Not for agents: keys would outlive them.
  hints: false
} as const

export const ownKeyOperations = {
  own: operation({
    operationId: 'getOwnApiKey',
    method: 'GET',
    path: '/api_key',
    tag: 'api_keys',
    scopes: [],
    summary: 'Get your API key',
    description:
      'Returns the permissions and limits of the request\'s key, but not the key itself. Call it to test a connection.',
    withoutBodies: { note: 'Portal sessions get 403.' },
    item: OwnApiKey,
    shape: 'one',
    results: { 200: 'The key of the request' },
    resource: 'api_key'
  })
}

export function keyOperations (choices: KeyChoices) {
  return {
    list: operation({
      ...common,
      operationId: 'listApiKeys',
      method: 'GET',
      path: '/api_keys',
      summary: 'List the API keys',
      description:
        "Returns all of the tenant's keys, including expired and revoked ones. The keys themselves are not stored.",
      input: ApiKeyQuery,
      item: ApiKey,
      shape: 'page',
      results: { 200: 'A page of keys' }
    }),
    create: operation({
      ...common,
      operationId: 'createApiKey',
      method: 'POST',
      path: '/api_keys',
      summary: 'Create an API key',
      description:
        'The response contains the key, which is not shown again. A key never gets a scope, network or field ' +
        'that its creator does not have, and expires no later. A replaced key gets 403. ' +
        `A tenant can have up to ${choices.maxKeys} valid keys, including replaced ones.`,
      input: createApiKeyBody(choices),
      item: CreatedApiKey,
      shape: 'one',
      returnsSecret: true,
      isAtomic: true,
      results: { 201: 'The key' }
    }),
    rotate: operation({
      ...common,
      operationId: 'rotateApiKey',
      method: 'POST',
      path: '/api_keys/:id/rotate',
      summary: 'Rotate an API key',
      description:
        'Creates a key with the same name, scopes, limits and expiry date; it expires no later than your key. Both ' +
        'keys are valid during the grace period, and both count as valid keys of the tenant. Needs every scope, ' +
        'network and field of the key. A replaced key gets 403.',
      params: ApiKeyParams,
      input: RotateApiKey,
      item: RotatedApiKey,
      shape: 'one',
      returnsSecret: true,
      isAtomic: true,
      results: { 200: 'The key that replaces the previous one' }
    }),
    revoke: operation({
      ...common,
      operationId: 'revokeApiKey',
      method: 'DELETE',
      path: '/api_keys/:id',
      summary: 'Revoke an API key',
      description:
        'The key stops working within seconds. It stays in the list. Its children and webhooks stay too, unless the ' +
        'query says otherwise. `webhooks=disable` also needs both scopes of webhooks.',
      withoutBodies: { note: 'Portal sessions can disable webhooks only with the capability `write`.' },
      params: ApiKeyParams,
      input: RevokeQuery,
      item: RevokedApiKey,
      shape: 'one',
      results: { 200: 'The revoked key, with the number of its children and webhooks' }
    })
  }
}

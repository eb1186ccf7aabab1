import type { TSchema } from '@sinclair/typebox'
import { maxNetworks } from '../../keys/api-key.js'
import type { KeySortField } from '../../ports/index.js'
import { pagingQuery } from '../../shared/paging.js'
import { DateTimeOf, Nullable, OneOf } from '../../shared/schemas.js'
import { Type } from '../../shared/typebox.js'

const scopesExample = ['candidates:read', 'jobs:read']
const networksExample = ['203.0.113.0/24']
const idExample = 'key_4f3c0a6d5b8e4a7c9d1e2f3a4b5c6d7e'

const Texts = Type.Array(Type.String())

const Networks = Type.Array(Type.String(), {
  description: 'Networks that requests with the key may come from, as CIDRs',
  examples: [networksExample]
})

/** An API key, without its text. */
export const ApiKey = Type.Object({
  id: Type.String({ examples: [idExample] }),
  name: Nullable(Type.String({ examples: ['CRM sync'], description: 'null for a key that has no name' })),
  scopes: Type.Array(Type.String(), { examples: [scopesExample] }),
  allowed_ips: Nullable({ ...Networks, description: `${Networks.description}; null for any address` }),
  candidate_fields: Nullable({
    ...Texts, description: 'The fields of a candidate that the key sees besides `id`; null for all', examples: [null]
  }),
  job_fields: Nullable({
    ...Texts, description: 'The fields of a job that the key sees besides `id`; null for all', examples: [null]
  }),
  start: Nullable(Type.String({
    description: 'The first characters after the prefix, to recognize the key by', examples: ['4fQz']
  })),
  created_at: DateTimeOf('When the key was created'),
  created_by: Nullable(Type.String({ description: 'A user of the portal, or the id of a key', examples: ['user:17'] })),
  expires_at: Nullable(DateTimeOf('When the key expires; null for never')),
  replaced: Type.Boolean({
    description: 'Whether another key replaces it, so that it expires at `expires_at`', examples: [false]
  }),
  last_used_at: Nullable(DateTimeOf('Accurate to two minutes; null if the key was never used')),
  revoked_at: Nullable(DateTimeOf('null unless the key was revoked'))
}, { title: 'ApiKey' })

const key = Type.String({
  description: 'The key itself; shown only in this response',
  examples: ['rk_4fQzV7nE2mXk9RbT0cYwL5sHdJ8uGaP3iK6oN1qZxWvB4hXyTqA']
})

/** A new key, with its text. */
export const CreatedApiKey = Type.Object({ ...ApiKey.properties, key }, { title: 'CreatedApiKey' })

/** A key that replaces another one, with its text. */
export const RotatedApiKey = Type.Object({
  ...ApiKey.properties,
  key,
  previous_key_expires_at: Nullable(DateTimeOf('When the previous key expires'))
}, { title: 'RotatedApiKey' })

const sortFields: readonly KeySortField[] = ['id', 'created_at']

/** The query of the list of keys. */
export const ApiKeyQuery = Type.Object(pagingQuery(sortFields, '-created_at'), { additionalProperties: false })

export const ApiKeyParams = Type.Object({
  id: Type.String({ description: 'The id of the key', examples: [idExample] })
})

/** The values that a new key can have. */
interface KeyChoices {
  scopes: readonly string[]
  candidateFields: readonly string[]
  jobFields: readonly string[]
  maxDays: number
}

/** Returns the body of a request that creates a key. */
export function createApiKeyBody ({ scopes, candidateFields, jobFields, maxDays }: KeyChoices): TSchema {
  const fields = (names: readonly string[], what: string) =>
    Type.Optional(
      Nullable(
        Type.Array(OneOf(names.filter((name) => name !== 'id')), {
          uniqueItems: true,
          maxItems: names.length,
          description:
            `The fields of a ${what} that the key sees besides \`id\`. Absent or null: all that its creator sees`,
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
      description: 'Scopes that the creator has itself',
      examples: [scopes.slice(0, 2)]
    }),
    allowed_ips: Type.Optional(Nullable(Type.Array(Type.String({ maxLength: 64 }), {
      minItems: 1,
      maxItems: maxNetworks,
      description: `${Networks.description}. Absent or null: any address, or the networks of the key that creates it`,
      examples: [networksExample]
    }))),
    candidate_fields: fields(candidateFields, 'candidate'),
    job_fields: fields(jobFields, 'job'),
    expires_in_days: Type.Integer({
      minimum: 1, maximum: maxDays, default: maxDays, description: 'After how many days the key expires'
    })
  }, { title: 'CreateApiKey', additionalProperties: false })
}

/** The body of a request that rotates a key. */
export const RotateApiKey = Type.Object({
  grace_period_seconds: Type.Integer({
    minimum: 0, maximum: 604800, default: 86400, description: 'How long the previous key stays valid'
  })
}, { title: 'RotateApiKey', additionalProperties: false })

import type { keyOperations } from '../api/keys.js'
import type { ValidInput } from '../api/operation.js'
import { InputError } from '../shared/errors.js'
import type {
  Creator, GeneratedKey, KeyRejection, KeySortField, KeyStore, ManagedKey, RotatedKey, Tenant, WebhookStore
} from '../ports/index.js'
import type { KeepAnswer } from '../shared/answers.js'
import { containsNetwork, parseCidr } from '../shared/networks.js'
import { type PagingQuery, parsePaging, readPage } from '../shared/paging.js'
import { isPlainText, readName } from '../shared/text.js'
import { createKeyId, generateApiKey, hashApiKey, type KeyLimits, keyStart } from './api-key.js'

/** Who creates or rotates a key. A key never gets a scope, network or field that its creator does not have. */
export interface KeyCreator extends KeyLimits {
  by: Creator
  /** `null` for a session, which can grant all of the option `portal.keys.scopes`. */
  scopes: readonly string[] | null
}

type Operations = ReturnType<typeof keyOperations>

/** The limits of the keys that customers create. */
interface KeyRules {
  scopes: readonly string[]
  maxKeys: number
  /** The maximum of webhooks that any tenant can have. */
  maxWebhooks: number
  /** The prefix of new keys. */
  prefix: string
  /** Returns the error for a caller with too few rights; `reason` is a sentence for the client. */
  forbid: (reason?: string) => Error
}

/**
 * Returns a function that returns a caller's operations on its tenant's keys. They return `null` for a key that does
 * not exist.
 */
export function createKeyOperations (
  store: KeyStore, webhooks: Pick<WebhookStore, 'list' | 'update'>, rules: KeyRules
) {
  const { maxKeys, maxWebhooks, prefix, forbid } = rules

  function generate ({ by }: KeyCreator): GeneratedKey & { key: string } {
    const key = generateApiKey(prefix)
    return { id: createKeyId(), digest: hashApiKey(key), start: keyStart(key), createdBy: by, key }
  }

  function reject (rejection: KeyRejection, advice = ''): Error {
    if (rejection === 'creator_ended') {
      return forbid('has expired, or was revoked or replaced, so it can create and rotate no keys')
    }
    return new InputError('', rejection === 'full'
      ? `the tenant already has the maximum of ${maxKeys} valid keys${advice}`
      : 'the key would descend from more than 20 keys: create it with an older key or in the portal')
  }

  /** Returns the webhooks that the key created; with `children`, those of its children too. */
  async function listWebhooks (tenant: Tenant, id: string, children: boolean) {
    const all = await webhooks.list(tenant.id, { filter: {}, sort: byId, offset: 0, limit: maxWebhooks })
    const creators = new Set(all.flatMap(({ created_by: { type, id } }) => type === 'key' && id !== null ? [id] : []))
    if (creators.size === 0) return []
    const family = await store.selectFamily(tenant.id, id, { ids: [...creators], children })
    return all.filter(({ created_by: by }) => by.type === 'key' && family.includes(String(by.id)))
  }

  return (creator: KeyCreator) => ({
    list: (tenant: Tenant, query: PagingQuery) => readPage<ManagedKey, unknown, KeySortField>({
      list: (page) => store.list(tenant.id, page),
      count: () => store.count(tenant.id)
    }, parsePaging(query, {})),

    /** Returns the key, including its text, which is not stored. */
    async create (
      tenant: Tenant, { name, scopes, expires_in_days: expiresInDays, ...given }: ValidInput<Operations['create']>,
      keep?: KeepAnswer
    ) {
      assertGiven('scopes', scopes, (scope) => creator.scopes?.includes(scope) ?? true)
      for (const [index, cidr] of given.allowed_ips?.entries() ?? []) {
        if (parseCidr(cidr) === null) {
          throw new InputError(`allowed_ips[${index}]`, 'must be a CIDR such as 203.0.113.0/24 or 203.0.113.7/32')
        }
      }
      const { key, ...generated } = generate(creator)
      const show = (stored: ManagedKey) => ({ ...stored, key })
      const stored = await store.create(tenant.id, {
        ...generated,
        tenantSlug: tenant.slug,
        name: readName(name),
        scopes,
        allowedIps: narrow('allowed_ips', given.allowed_ips, creator.allowedIps, containsNetwork),
        candidateFields: narrow('candidate_fields', given.candidate_fields, creator.candidateFields, isSame),
        jobFields: narrow('job_fields', given.job_fields, creator.jobFields, isSame),
        expiresInDays
      }, { maxKeys, answer: keep?.(show) })
      if (typeof stored === 'string') throw reject(stored)
      return show(stored)
    },

    /** Returns the new key, and when the previous one expires. */
    async rotate (tenant: Tenant, id: string, input: ValidInput<Operations['rotate']>, keep?: KeepAnswer) {
      const old = isPlainText(id, 255) ? await store.find(tenant.id, id) : null
      if (old === null) return null
      if (!mayHave(creator, old, rules)) throw forbid()
      const { key, ...generated } = generate(creator)
      const show = (stored: RotatedKey) => ({ ...stored, key })
      const stored = await store.rotate(tenant.id, id, generated, {
        overlapSeconds: input.grace_period_seconds, maxKeys, answer: keep?.(show)
      })
      if (typeof stored === 'string') throw reject(stored, ': rotate it without a grace period, or revoke another one')
      if (stored === null) throw new InputError('', 'the key has expired, or was revoked or replaced')
      return show(stored)
    },

    /** Returns the key, with the number of its children that were valid, and of its webhooks. */
    async revoke (tenant: Tenant, id: string, input: ValidInput<Operations['revoke']>) {
      const children = input.children === 'true'
      const revoked = isPlainText(id, 255) ? await store.revoke(tenant.id, id, { children }) : null
      const key = revoked && await store.find(tenant.id, id)
      if (key === null) return null
      const created = await listWebhooks(tenant, id, children)
      for (const webhook of input.webhooks === 'disable' ? created : []) {
        if (webhook.status === 'active') await webhooks.update(tenant.id, webhook.id, { status: 'inactive' })
      }
      return { ...key, children_count: revoked?.children ?? 0, webhooks_count: created.length }
    }
  })
}

const byId = [{ field: 'id', direction: 'asc' }] as const

/** Returns whether a creator could create a key with the same rights. */
function mayHave (creator: KeyCreator, key: ManagedKey, { scopes }: KeyRules): boolean {
  return key.scopes.every((scope) => scopes.includes(scope) && (creator.scopes?.includes(scope) ?? true)) &&
    isWithin(key.allowed_ips, creator.allowedIps, containsNetwork) &&
    isWithin(key.candidate_fields, creator.candidateFields, isSame) &&
    isWithin(key.job_fields, creator.jobFields, isSame)
}

type Covers = (outer: string, inner: string) => boolean

const isSame: Covers = (outer, inner) => outer === inner

function isWithin (values: readonly string[] | null, limit: readonly string[] | null, covers: Covers): boolean {
  return limit === null || (values !== null && values.every((value) => limit.some((outer) => covers(outer, value))))
}

/** Returns the limit of a new key: the given one, which must be within the creator's limit, or the creator's. */
function narrow (
  field: string, given: string[] | null | undefined, limit: string[] | null, covers: Covers
): string[] | null {
  if (given === null || given === undefined) return limit
  assertGiven(field, given, (value) => isWithin([value], limit, covers))
  return given
}

function assertGiven (field: string, values: readonly string[], isAllowed: (value: string) => boolean): void {
  const index = values.findIndex((value) => !isAllowed(value))
  if (index >= 0) throw new InputError(`${field}[${index}]`, "exceeds the rights of the request's API key")
}

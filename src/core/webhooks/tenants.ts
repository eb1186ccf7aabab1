import { rejectInput } from '../shared/errors.js'
import type { CallReport } from '../observe/audit.js'
import type { Logger } from '../observe/logger.js'
import type { RenameOptions, Tenant, WebhookStore } from '../ports/index.js'
import {
  type CheckedReference, type TenantArgument, type Tenants, readTenantArgument, restSeconds, showTenant, slugOf
} from '../shared/tenants.js'
import { choice, readInput, unread } from '../shared/read-options.js'
import { isTenantSlug, tenantSlugRule } from '../shared/text.js'
import { assertNames, optionNames } from './events/dispatcher.js'
import type { EmitOptions, EngineCalls } from './recruiting.js'
import type { KeyBox, SecretBox } from './secrets.js'

const sameName = 'expected a name other than from'
// A batch takes less than a second.
const batchSize = 2000

interface Parts {
  assertOpen (): void
  webhooks: WebhookStore
  tenants: Tenants
  secrets: SecretBox
}

const resumeReaders = { pending: choice(['deliver', 'skip']), transaction: unread }

/** Renames, removes, suspends and resumes tenants. If slugs are the ids, freed slugs rest for `restSeconds`. */
export function createTenantOperations (
  { assertOpen, webhooks, tenants, secrets }: Parts, report: CallReport
): Pick<EngineCalls, 'renameTenant' | 'removeTenant' | 'suspendTenant' | 'resumeTenant'> {
  const rest = { restSeconds: tenants.hasIds ? 0 : restSeconds }

  /** Looks up both names: `tenantId` may already have the new name, or still the old one. A cached one may be older. */
  async function findIds (reference: CheckedReference, to: string, transaction: unknown): Promise<[Tenant, Tenant]> {
    if (!tenants.hasIds) {
      const from = slugOf(reference)
      if (from === to) rejectInput('to', sameName)
      return [{ slug: from, id: from }, await tenants.get({ slug: to, id: null }, transaction)]
    }
    const { slug: from, id } = reference
    if (from === null) return [{ slug: id, id }, { slug: to, id }]
    if (from === to) rejectInput('to', sameName)
    tenants.forget()
    const [old, renamed] = await Promise.all([tenants.find(from), tenants.find(to)])
    if (old !== null && renamed !== null && old.id !== renamed.id) {
      rejectInput('to', 'expected a name that no other tenant has')
    }
    const found = (renamed ?? old)?.id ?? await tenants.getId(reference)
    return [{ slug: from, id: found }, { slug: to, id: found }]
  }

  /** Skipped in a host's transaction: its changes are not visible yet, and it may use the last connection. */
  async function learnState (transaction: unknown): Promise<void> {
    if (transaction === undefined) await tenants.refresh()
  }

  /** Changes the state of a tenant, and reports it. */
  async function change<Result> (
    operationId: string, argument: TenantArgument, { transaction }: EmitOptions,
    set: (tenant: string) => Promise<Result>
  ): Promise<Result> {
    assertOpen()
    const tenant = await tenants.getId(readTenantArgument(argument), transaction)
    const result = await set(tenant)
    await learnState(transaction)
    const tenantSlug = showTenant(argument)
    report({ operationId, tenantSlug, tenantId: tenant, resource: { kind: 'tenant', id: tenantSlug } })
    return result
  }

  return {
    async renameTenant (from, to, options = {}) {
      assertOpen()
      const reference = readFrom(from)
      assertSlug('to', to)
      assertNames('options', options, optionNames)
      const [old, renamed] = await findIds(reference, to, options.transaction)
      const count = await renameSealed(secrets, old.id, renamed.id, (reseal) =>
        webhooks.renameTenant(old, renamed, { ...options, ...rest, reseal }))
      await learnState(options.transaction)
      const moved = count ?? rejectInput('to', 'expected a tenant without webhooks, events and keys, got one that exists')
      const resource = { kind: 'tenant', id: to }
      report({ operationId: 'renameTenant', tenantSlug: showTenant(from), tenantId: old.id, resource })
      return { webhooks: moved }
    },

    async removeTenant (argument, options = {}) {
      assertOpen()
      const reference = readTenantArgument(argument)
      assertNames('options', options, optionNames)
      const { transaction } = options
      // Without ids, the slug is not looked up: if this repeats a failed call, it is already resting.
      const tenant = tenants.hasIds ? await tenants.getId(reference, transaction) : slugOf(reference)
      let left = await webhooks.removeTenant(tenant, { transaction, ...rest, limit: batchSize })
      await learnState(transaction)
      while (left > 0 && transaction === undefined) {
        left = await webhooks.removeTenant(tenant, { ...rest, limit: batchSize })
      }
      const tenantSlug = showTenant(argument)
      const resource = { kind: 'tenant', id: tenantSlug }
      report({ operationId: 'removeTenant', tenantSlug, tenantId: tenant, resource })
      return { left }
    },

    async suspendTenant (argument, options = {}) {
      assertNames('options', options, optionNames)
      return change('suspendTenant', argument, options, async (tenant) => {
        return { since: await webhooks.suspendTenant(tenant, options) }
      })
    },

    async resumeTenant (argument, options) {
      const { pending } = readInput(options, resumeReaders)
      return change('resumeTenant', argument, options, async (tenant) => {
        const since = await webhooks.resumeTenant(tenant, { ...options, pending })
        return since === null ? null : { since }
      })
    }
  }
}

type Reseal = RenameOptions['reseal']

/**
 * The storage reseals synchronously in its transaction, which only keys can do. With functions, a rename fails without
 * changes if a secret has not been resealed yet. Then the secret is resealed and the rename repeated.
 */
async function renameSealed (
  secrets: SecretBox, from: string, to: string, rename: (reseal: Reseal) => Promise<number | null>
): Promise<number | null> {
  if (secrets.keyBox !== null) return rename(createReseal(secrets.keyBox, from, to))
  const resealed = new Map<string, string>()
  for (;;) {
    const lacking: Array<[secret: string, webhookId: number]> = []
    try {
      return await rename((secret, webhookId) => {
        const found = resealed.get(`${webhookId} ${secret}`)
        if (found !== undefined) return found
        lacking.push([secret, webhookId])
        throw new Error(`the secret of webhook ${webhookId} is not resealed yet`)
      })
    } catch (error) {
      if (lacking.length === 0) throw error
    }
    for (const [secret, webhookId] of lacking) {
      const plain = await secrets.open(secret, from, webhookId)
      resealed.set(`${webhookId} ${secret}`, await secrets.seal(plain, to, webhookId))
    }
  }
}

/** Returns a function that reseals one tenant's secrets for another. */
export function createReseal (secrets: KeyBox, from: string, to: string): Reseal {
  return (secret, webhookId) => secrets.seal(secrets.open(secret, from, webhookId), to, webhookId)
}

/** Reads the argument `from`, which errors name if it is a string. */
function readFrom (from: unknown): CheckedReference {
  if (typeof from === 'object' && from !== null) return readTenantArgument(from)
  assertSlug('from', from)
  return { slug: from, id: null }
}

function assertSlug (field: string, value: unknown): asserts value is string {
  if (!isTenantSlug(value)) rejectInput(field, `expected ${tenantSlugRule}`)
}

const maxAsked = 100

/**
 * Logs an error if webhooks or keys were stored by slug before the option `tenantId` was set: the keys then get 401,
 * and events reach none of the webhooks. Resolves when the storage has answered. Never rejects: calls and requests
 * report other problems with the storage or the option.
 */
export async function reportStoredSlugs (
  webhooks: Pick<WebhookStore, 'listIdsLikeSlugs'>, tenants: Pick<Tenants, 'hasIds' | 'find'>, log: Logger
): Promise<void> {
  if (!tenants.hasIds) return
  const slugs = await webhooks.listIdsLikeSlugs?.(maxAsked).catch(() => []) ?? []
  reportFirst(slugs, tenants, log).catch(() => {})
}

async function reportFirst (slugs: readonly string[], tenants: Pick<Tenants, 'find'>, log: Logger): Promise<void> {
  for (const slug of slugs) {
    const tenant = await tenants.find(slug)
    if (tenant === null || tenant.id === slug) continue
    return log.error({ tenantSlug: slug, tenantId: tenant.id }, message)
  }
}

const message = 'webhooks and keys are stored by slug, but the option tenantId returns another id: ' +
  'their keys get 401, and events do not reach them, until you run fastify-recruiting-api tenants use-ids'

import { RecruitingApiError } from '../errors.js'
import type { Tenant, WebhookStore } from '../ports/index.js'
import { parseTenantId, restSeconds, tenantIdRule, type Tenants } from '../shared/tenants.js'
import { isTenantSlug, tenantSlugRule } from '../shared/text.js'
import { assertNames, optionNames } from './events/arguments.js'
import type { EngineCalls } from './recruiting.js'
import type { SecretBox } from './secrets.js'

const batchSize = 10_000

/** Renames and removes tenants. If slugs are the ids, freed names rest for an hour. */
export function createTenantOperations (
  webhooks: WebhookStore, tenants: Tenants, secrets: SecretBox
): Pick<EngineCalls, 'renameTenant' | 'removeTenant'> {
  const rest = { restSeconds: tenants.hasIds ? 0 : restSeconds }

  /** The id is known under the new name if the host has renamed the tenant, otherwise under the old one. */
  async function findIds (from: string, to: string, transaction: unknown): Promise<[Tenant, Tenant]> {
    if (!tenants.hasIds) return [{ slug: from, id: from }, await tenants.get(to, transaction)]
    const [old, renamed] = await Promise.all([tenants.find(from), tenants.find(to)])
    if (old !== null && renamed !== null && old.id !== renamed.id) refuse('to', 'expected a name that no other tenant has')
    const { id } = renamed ?? old ?? await tenants.get(from)
    return [{ slug: from, id }, { slug: to, id }]
  }

  /** Not in a transaction of the host: the change is not visible before the commit, and it may hold the last connection. */
  async function learnRest (transaction: unknown): Promise<void> {
    if (transaction === undefined) await tenants.refresh()
  }

  async function findRemoved (tenantSlug: string, tenantId: unknown): Promise<string> {
    if (!tenants.hasIds && tenantId !== undefined) refuse('tenantId', 'expected none without the option tenantId')
    // Not looked up: if this repeats a failed call, the name already rests.
    if (!tenants.hasIds) return tenantSlug
    if (tenantId === undefined) return (await tenants.get(tenantSlug)).id
    return parseTenantId(tenantId) ?? refuse('tenantId', `expected ${tenantIdRule}`)
  }

  return {
    async renameTenant (from, to, options = {}) {
      assertSlug('from', from)
      assertSlug('to', to)
      assertNames('options', options, optionNames)
      if (from === to) refuse('to', 'expected another name than from')
      const [old, renamed] = await findIds(from, to, options.transaction)
      const reseal = (secret: string, webhookId: number): string => secrets.seal(secrets.open(secret, old.id, webhookId), renamed.id, webhookId)
      const count = await webhooks.renameTenant(old, renamed, { ...options, ...rest, reseal })
      await learnRest(options.transaction)
      return { webhooks: count ?? refuse('to', 'expected a tenant without webhooks, events and keys, got one that exists') }
    },

    async removeTenant (tenantSlug, options = {}) {
      assertSlug('tenantSlug', tenantSlug)
      assertNames('options', options, [...optionNames, 'tenantId'])
      const { tenantId, transaction } = options
      const tenant = await findRemoved(tenantSlug, tenantId)
      let left = await webhooks.removeTenant(tenant, { transaction, ...rest, limit: batchSize })
      await learnRest(transaction)
      while (left > 0 && transaction === undefined) left = await webhooks.removeTenant(tenant, { ...rest, limit: batchSize })
      return { left }
    }
  }
}

function assertSlug (field: string, value: unknown): void {
  if (!isTenantSlug(value)) refuse(field, `expected ${tenantSlugRule}`)
}

function refuse (field: string, problem: string): never {
  throw new RecruitingApiError('invalid_input', `${field}: ${problem}`, field)
}

import { RecruitingApiError } from '../errors.js'
import type { WebhookStore } from '../ports/index.js'
import { isTenantSlug, tenantSlugRule } from '../shared/text.js'
import { assertNames, optionNames } from './events/arguments.js'
import type { EngineCalls } from './recruiting.js'
import type { SecretBox } from './secrets/secret-box.js'

const batchSize = 10_000

export function createTenantOperations (webhooks: WebhookStore, secrets: SecretBox): Pick<EngineCalls, 'renameTenant' | 'removeTenant'> {
  return {
    async renameTenant (from, to, options = {}) {
      assertSlug('from', from)
      assertSlug('to', to)
      assertNames('options', options, optionNames)
      if (from === to) refuse('to', 'expected another name than from')
      const reseal = (secret: string, webhookId: number): string => secrets.seal(secrets.open(secret, from, webhookId), to, webhookId)
      const count = await webhooks.renameTenant(from, to, { ...options, reseal })
      return { webhooks: count ?? refuse('to', 'expected a tenant without webhooks, events and keys, got one that exists') }
    },

    async removeTenant (tenantSlug, options = {}) {
      assertSlug('tenantSlug', tenantSlug)
      assertNames('options', options, optionNames)
      let left = await webhooks.removeTenant(tenantSlug, { ...options, limit: batchSize })
      while (left > 0 && options.transaction === undefined) left = await webhooks.removeTenant(tenantSlug, { limit: batchSize })
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

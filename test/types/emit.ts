import type { PoolClient } from 'pg'
import { type EmitOptions, type Recruiting, type RecruitingStorage, createRecruiting } from '../../src/index.js'
import { memoryStorage } from '../../src/storages/memory/index.js'

/* Compiled by `npm run types`: each @ts-expect-error fails unless the next line is invalid. */

const storage: RecruitingStorage = memoryStorage()

export async function defaultCatalogue (): Promise<void> {
  const recruiting = createRecruiting({ storage })
  await recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: { anything: true } })
  // @ts-expect-error not in the catalogue
  await recruiting.emit({ tenantSlug: 'acme', type: 'application.eaten', data: {} })
  // @ts-expect-error data is an object
  await recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: 1 })
  // @ts-expect-error no tenant
  await recruiting.emit({ type: 'application.created', data: {} })
}

export function listeners (recruiting: Recruiting): void {
  recruiting.on('webhookDisabled', ({ webhookId, lastError }) => [webhookId.toFixed(), lastError.toUpperCase()])
  // @ts-expect-error an unknown event name
  recruiting.on('webhookEaten', () => {})
}

/** A host's transaction can have any type. */
export function transaction (client: PoolClient): EmitOptions {
  return { transaction: client }
}

export function publicType (recruiting: Recruiting): Promise<void> {
  return recruiting.drain({ until: new Date() })
}

export async function tenants ({ emit, webhooks, removeTenant }: Recruiting): Promise<void> {
  await emit({ tenantId: 41, type: 'application.created', data: {} })
  await webhooks.list({ tenantId: '41' })
  await removeTenant({ tenantSlug: 'acme' })
  // @ts-expect-error both a slug and an id
  await emit({ tenantId: 41, tenantSlug: 'acme', type: 'application.created', data: {} })
  // @ts-expect-error both a slug and an id
  await webhooks.list({ tenantId: 41, tenantSlug: 'acme' })
}

import type { MemoryApiKey } from 'fastify-recruiting-api/memory'

const everything = ['candidates:read', 'jobs:read', 'webhooks:read', 'webhooks:write']
const listsOnly = ['candidates:read', 'jobs:read']

/** An API key, and how the page and the terminal describe it. */
export interface DemoKey extends MemoryApiKey {
  label: string
  note: string
}

/**
 * Keys that are easy to guess, so that the printed commands work after every start. A real ATS creates its keys with
 * `generateApiKey` and stores only `hashApiKey(key)`.
 */
export const demoKeys = {
  acme: { key: 'acme-full-access', tenantSlug: 'acme', scopes: everything, label: 'Full access', note: 'every scope, for acme' },
  acmeReadOnly: { key: 'acme-read-only', tenantSlug: 'acme', scopes: listsOnly, label: 'Read only', note: 'candidates and jobs of acme, no webhooks' },
  globex: { key: 'globex-full-access', tenantSlug: 'globex', scopes: everything, label: 'Full access', note: 'every scope, for globex' },
  globexReadOnly: { key: 'globex-read-only', tenantSlug: 'globex', scopes: listsOnly, label: 'Read only', note: 'candidates and jobs of globex, no webhooks' }
} satisfies Record<string, DemoKey>

/** Finds the keys of a tenant, the one with full access first. */
export function listKeys (tenantSlug: string): DemoKey[] {
  return Object.values(demoKeys).filter((key) => key.tenantSlug === tenantSlug)
}

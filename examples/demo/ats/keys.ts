import type { MemoryApiKey } from 'fastify-recruiting-api/memory'

const everything = ['candidates:read', 'jobs:read', 'webhooks:read', 'webhooks:write']
const listsOnly = ['candidates:read', 'jobs:read']

/** An API key with its description in the terminal. */
export interface DemoKey extends MemoryApiKey {
  note: string
}

/**
 * Keys that are easy to guess, so that the printed commands work after every start. A real ATS creates its keys with
 * `generateApiKey` and stores only `hashApiKey(key)`.
 */
export const demoKeys = {
  acme: { key: 'acme-full-access', tenantSlug: 'acme', scopes: everything, note: 'every scope, for acme' },
  acmeReadOnly: {
    key: 'acme-read-only',
    tenantSlug: 'acme',
    scopes: listsOnly,
    note: 'candidates and jobs of acme, no webhooks'
  },
  globex: { key: 'globex-full-access', tenantSlug: 'globex', scopes: everything, note: 'every scope, for globex' },
  globexReadOnly: {
    key: 'globex-read-only',
    tenantSlug: 'globex',
    scopes: listsOnly,
    note: 'candidates and jobs of globex, no webhooks'
  }
} satisfies Record<string, DemoKey>

/** Returns the tenant's key with every scope. */
export function findFullKey (tenantSlug: string): string {
  return findKey(tenantSlug, everything)
}

/** Returns the tenant's key that only reads candidates and jobs. */
export function findReadOnlyKey (tenantSlug: string): string {
  return findKey(tenantSlug, listsOnly)
}

function findKey (tenantSlug: string, scopes: readonly string[]): string {
  const found = Object.values(demoKeys).find((key) => key.tenantSlug === tenantSlug && key.scopes === scopes)
  if (found === undefined) throw new Error(`${tenantSlug} has no such key`)
  return found.key
}

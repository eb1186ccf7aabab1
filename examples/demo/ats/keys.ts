import type { MemoryApiKey } from 'fastify-recruiting-api/memory'

const everything = ['candidates:read', 'jobs:read', 'webhooks:read', 'webhooks:write']

/** An API key, and what to say about it. */
export interface DemoKey extends MemoryApiKey {
  note: string
}

/**
 * Keys that can be guessed, so that the commands can be pasted after every start. A real ATS makes its keys with
 * `generateApiKey` and keeps `hashApiKey(key)` alone.
 */
export const demoKeys = {
  acme: {
    key: 'acme-full-access',
    tenantSlug: 'acme',
    scopes: everything,
    note: 'may do everything in acme'
  },
  acmeReadOnly: {
    key: 'acme-read-only',
    tenantSlug: 'acme',
    scopes: ['candidates:read', 'jobs:read'],
    note: 'may list candidates and jobs in acme, and see no webhooks'
  },
  globex: {
    key: 'globex-full-access',
    tenantSlug: 'globex',
    scopes: everything,
    note: 'may do everything in globex'
  }
} satisfies Record<string, DemoKey>

/** One for each tenant, which may do everything there. */
export const fullKeys: readonly DemoKey[] = [demoKeys.acme, demoKeys.globex]

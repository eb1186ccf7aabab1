/** The scopes of the API's routes. `app.recruiting.scopes` also contains those of your own routes. */
export const apiScopes: readonly string[] = Object.freeze([
  'candidates:read', 'candidates:write', 'jobs:read', 'jobs:write', 'webhooks:read', 'webhooks:write'
])

/** The scope for managing the tenant's keys. Not in `apiScopes`, so that a key has it only if the vendor names it. */
export const manageKeysScope = 'api_keys:manage'

/** Every operation on webhooks and their deliveries needs both. */
export const webhookScopes: readonly string[] = ['webhooks:read', 'webhooks:write']

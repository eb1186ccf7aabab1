import { assertOption, findNearestName } from '../shared/read-options.js'

/** The scopes that the routes of the API need. `app.recruiting.scopes` also has those of your own routes. */
export const apiScopes: readonly string[] = Object.freeze([
  'candidates:read', 'candidates:write', 'jobs:read', 'jobs:write', 'webhooks:read', 'webhooks:write'
])

/** Every operation on webhooks and their deliveries needs both. */
export const webhookScopes: readonly string[] = ['webhooks:read', 'webhooks:write']

/** Reads a list of scopes. Throws `invalid_option`. */
export function readScopes (value: unknown, path: string): string[] {
  assertOption(Array.isArray(value) && value.every(isScope), path, 'an array of scopes such as candidates:read', value)
  return [...value]
}

/** Throws `invalid_option` for a scope that is not known, and suggests the nearest one. */
export function expectScopes (scopes: readonly string[], path: string, known: readonly string[]): void {
  for (const scope of scopes) {
    assertOption(known.includes(scope), path, `a scope of a route, such as ${findNearestName(scope, known)}`, scope)
  }
}

function isScope (scope: unknown): boolean {
  return typeof scope === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)
}

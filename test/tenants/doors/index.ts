import type { Test } from 'tap'
import type { CreateTenantStore } from '../../fixtures/tenants/vendor.js'
import { testAttempts } from './attempts.js'
import { testEvents } from './events.js'
import { testKeys } from './keys.js'
import { testRest } from './rest.js'
import { testSessions } from './sessions.js'
import { testSyncTokens } from './sync.js'

/** Tests everything that remembers a slug, with a storage. */
export function testDoors (t: Test, createStore: CreateTenantStore): void {
  testSessions(t, createStore)
  testKeys(t, createStore)
  testSyncTokens(t, createStore)
  testEvents(t, createStore)
  testAttempts(t, createStore)
  testRest(t, createStore)
}

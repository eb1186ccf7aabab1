import { attemptCases } from './deliveries/attempts.js'
import { claimCases } from './deliveries/claim.js'
import { healthCases } from './deliveries/health.js'
import { pendingCases } from './deliveries/pending.js'
import { feedCases } from './events/feed.js'
import { logCases } from './events/log.js'
import { recordAndPruneCases } from './events/record-and-prune.js'
import { replayCases } from './events/replay.js'
import { subjectCases } from './events/subjects.js'
import { idempotencyCases } from './idempotency.js'
import { contentCases } from './lists/content.js'
import { filterCases } from './lists/filters.js'
import { idCases } from './lists/ids.js'
import { pageCases } from './lists/pages.js'
import { positionCases } from './positions.js'
import { raceCases } from './races.js'
import { subscriptionCases } from './subscriptions.js'
import type { StorageCase } from './support/case.js'
import { syncCases } from './sync.js'
import { foreignCases } from './tenancy/foreign.js'
import { renameAndRemoveCases } from './tenancy/rename-and-remove.js'
import { suspendCases } from './tenancy/suspend.js'
import { eventFilterCases } from './webhooks/filters.js'
import { webhookHealthCases } from './webhooks/health.js'
import { managementCases } from './webhooks/management.js'
import { secretCases } from './webhooks/secrets.js'

export {
  type EmittedEntry, type EventRecorder, type RecordEventsOptions, recordEvents
} from '../recorder/record-events.js'
export { keyLookupCases } from './key-cases.js'
export { type CaseResult, formatReport, runCases, type RunOptions } from './report.js'
export type { KeyLookupCase, StorageCase, StorageGroup } from './support/case.js'
export { testTenants } from './support/harness.js'
export type {
  AnyStorageHarness, KeyHarness, MakeKeyLookup, MakeStorage, OpenTransaction, SavedCandidate, SavedJob, SavedKey,
  StorageHarness
} from './support/harness.js'

/**
 * Conformance cases for a `RecruitingStorage`. Each case runs on a new, empty storage. To test only some parts, filter
 * the cases by `group`.
 */
export const storageCases: readonly StorageCase[] = Object.freeze([
  ...pageCases, ...filterCases, ...contentCases, ...idCases, ...managementCases, ...secretCases, ...eventFilterCases,
  ...recordAndPruneCases, ...claimCases, ...attemptCases, ...healthCases, ...webhookHealthCases, ...logCases,
  ...replayCases, ...subjectCases, ...feedCases, ...pendingCases, ...foreignCases, ...renameAndRemoveCases,
  ...suspendCases, ...raceCases, ...syncCases, ...positionCases, ...idempotencyCases, ...subscriptionCases
])

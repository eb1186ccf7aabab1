import { addressCases, attemptCases, leaseCases, lockedCases } from './deliveries/attempts.js'
import { claimCases, fairnessCases, holdCases, recordAndClaimCases, shareCases } from './deliveries/claim.js'
import { goneCases, healthCases, healthEventCases, noticeCases, pauseCases } from './deliveries/health.js'
import { onDueCases, pendingCases } from './deliveries/pending.js'
import { feedCases } from './events/feed.js'
import { logCases } from './events/log.js'
import { pruneCases, recordCases } from './events/record-and-prune.js'
import { countReplayCases, replayCases, retryCases } from './events/replay.js'
import { eraseCases, subjectCases } from './events/subjects.js'
import { idempotencyCases } from './idempotency.js'
import { contentCases, findCases, verifyCases } from './lists/content.js'
import { filterCases, searchCases } from './lists/filters.js'
import { idCases } from './lists/ids.js'
import { orderCases, pageCases } from './lists/pages.js'
import { claimRaceCases, resultRaceCases, webhookRaceCases } from './races.js'
import { subscriptionCases } from './subscriptions.js'
import type { StorageCase } from './support/case.js'
import { changeCases, syncedRowCases } from './sync.js'
import { deliveryTenancyCases, webhookTenancyCases } from './tenancy/foreign.js'
import { removeCases, renameCases, restCases } from './tenancy/rename-and-remove.js'
import { suspendCases } from './tenancy/suspend.js'
import { eventFilterCases } from './webhooks/filters.js'
import { webhookHealthCases } from './webhooks/health.js'
import { listCases, writeCases } from './webhooks/management.js'
import { headerCases, secretCases } from './webhooks/secrets.js'

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
  ...orderCases, ...searchCases, ...filterCases, ...pageCases, ...contentCases, ...verifyCases, ...findCases,
  ...idCases, ...writeCases, ...listCases, ...secretCases, ...headerCases, ...eventFilterCases, ...recordCases,
  ...claimCases, ...fairnessCases, ...shareCases, ...recordAndClaimCases, ...leaseCases, ...holdCases,
  ...attemptCases, ...lockedCases, ...addressCases, ...pauseCases, ...healthCases, ...healthEventCases, ...goneCases,
  ...webhookHealthCases, ...noticeCases, ...logCases, ...replayCases, ...countReplayCases, ...retryCases,
  ...pruneCases, ...eraseCases, ...subjectCases, ...feedCases, ...pendingCases, ...onDueCases, ...webhookTenancyCases,
  ...renameCases, ...removeCases, ...restCases, ...suspendCases, ...deliveryTenancyCases, ...webhookRaceCases,
  ...claimRaceCases, ...resultRaceCases, ...changeCases, ...syncedRowCases, ...idempotencyCases,
  ...subscriptionCases
])

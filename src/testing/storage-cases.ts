import { addressCases } from './deliveries/address.js'
import { claimCases } from './deliveries/claim.js'
import { attemptCases } from './deliveries/attempts.js'
import { countReplayCases } from './events/count-replay.js'
import { eraseCases } from './events/erase.js'
import { feedCases } from './events/feed.js'
import { fairnessCases } from './deliveries/fairness.js'
import { goneCases } from './deliveries/gone.js'
import { healthCases } from './deliveries/health.js'
import { pauseCases } from './deliveries/pause.js'
import { holdCases } from './deliveries/holds.js'
import { leaseCases } from './deliveries/lease.js'
import { lockedCases } from './deliveries/locked.js'
import { logCases } from './events/log.js'
import { noticeCases } from './deliveries/notices.js'
import { onDueCases } from './deliveries/on-due.js'
import { pendingCases } from './deliveries/pending.js'
import { pruneCases } from './events/prune.js'
import { recordCases } from './events/record.js'
import { replayCases } from './events/replay.js'
import { subjectCases } from './events/subjects.js'
import { retryCases } from './events/retry.js'
import { contentCases } from './lists/content.js'
import { idCases } from './lists/ids.js'
import { idempotencyCases } from './idempotency.js'
import { findCases } from './lists/find.js'
import { filterCases } from './lists/filters.js'
import { orderCases } from './lists/order.js'
import { pageCases } from './lists/pages.js'
import { searchCases } from './lists/search.js'
import { claimRaceCases } from './races/claims.js'
import { resultRaceCases } from './races/results.js'
import { webhookRaceCases } from './races/webhooks.js'
import type { StorageCase } from './support/case.js'
import { changeCases } from './sync/changes.js'
import { syncedRowCases } from './sync/rows.js'
import { deliveryTenancyCases } from './tenancy/deliveries.js'
import { removeCases } from './tenancy/remove.js'
import { renameCases } from './tenancy/rename.js'
import { restCases } from './tenancy/rest.js'
import { webhookTenancyCases } from './tenancy/webhooks.js'
import { eventFilterCases } from './webhooks/filters.js'
import { webhookHealthCases } from './webhooks/health.js'
import { headerCases } from './webhooks/headers.js'
import { listCases } from './webhooks/list.js'
import { secretCases } from './webhooks/secrets.js'
import { writeCases } from './webhooks/write.js'

/**
 * Conformance cases for a `RecruitingStorage`. Each case runs on a new, empty storage. To test only some parts, filter
 * the cases by `group`.
 */
export const storageCases: readonly StorageCase[] = Object.freeze([
  ...orderCases,
  ...searchCases,
  ...filterCases,
  ...pageCases,
  ...contentCases,
  ...findCases,
  ...idCases,
  ...writeCases,
  ...listCases,
  ...secretCases,
  ...headerCases,
  ...eventFilterCases,
  ...recordCases,
  ...claimCases,
  ...fairnessCases,
  ...leaseCases,
  ...holdCases,
  ...attemptCases,
  ...lockedCases,
  ...addressCases,
  ...pauseCases,
  ...healthCases,
  ...goneCases,
  ...webhookHealthCases,
  ...noticeCases,
  ...logCases,
  ...replayCases,
  ...countReplayCases,
  ...retryCases,
  ...pruneCases,
  ...eraseCases,
  ...subjectCases,
  ...feedCases,
  ...pendingCases,
  ...onDueCases,
  ...webhookTenancyCases,
  ...renameCases,
  ...removeCases,
  ...restCases,
  ...deliveryTenancyCases,
  ...webhookRaceCases,
  ...claimRaceCases,
  ...resultRaceCases,
  ...changeCases,
  ...syncedRowCases,
  ...idempotencyCases
])

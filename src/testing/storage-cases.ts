import { addressCases, attemptCases } from './deliveries/attempts.js'
import { claimCases, fairnessCases } from './deliveries/claim.js'
import { goneCases, healthCases, noticeCases, pauseCases } from './deliveries/health.js'
import { holdCases } from './deliveries/holds.js'
import { leaseCases, lockedCases } from './deliveries/lease.js'
import { onDueCases, pendingCases } from './deliveries/pending.js'
import { feedCases } from './events/feed.js'
import { logCases } from './events/log.js'
import { pruneCases } from './events/prune.js'
import { recordCases } from './events/record.js'
import { countReplayCases, replayCases, retryCases } from './events/replay.js'
import { eraseCases, subjectCases } from './events/subjects.js'
import { idempotencyCases } from './idempotency.js'
import { contentCases, findCases, verifyCases } from './lists/content.js'
import { filterCases, searchCases } from './lists/filters.js'
import { idCases } from './lists/ids.js'
import { orderCases, pageCases } from './lists/pages.js'
import { claimRaceCases, resultRaceCases, webhookRaceCases } from './races.js'
import type { StorageCase } from './support/case.js'
import { changeCases, syncedRowCases } from './sync.js'
import { deliveryTenancyCases, webhookTenancyCases } from './tenancy/foreign.js'
import { removeCases, renameCases, restCases } from './tenancy/rename-and-remove.js'
import { eventFilterCases } from './webhooks/filters.js'
import { webhookHealthCases } from './webhooks/health.js'
import { listCases, writeCases } from './webhooks/management.js'
import { headerCases, secretCases } from './webhooks/secrets.js'

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
  ...verifyCases,
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

import { claimCases } from './deliveries/claim.js'
import { completeCases } from './deliveries/complete.js'
import { eraseCases } from './deliveries/erase.js'
import { fairnessCases } from './deliveries/fairness.js'
import { healthCases } from './deliveries/health.js'
import { holdCases } from './deliveries/hold.js'
import { leaseCases } from './deliveries/lease.js'
import { logCases } from './deliveries/log.js'
import { noticeCases } from './deliveries/notices.js'
import { onDueCases } from './deliveries/on-due.js'
import { pendingCases } from './deliveries/pending.js'
import { pruneCases } from './deliveries/prune.js'
import { recordCases } from './deliveries/record.js'
import { replayCases } from './deliveries/replay.js'
import { contentCases } from './lists/content.js'
import { filterCases } from './lists/filters.js'
import { orderCases } from './lists/order.js'
import { pageCases } from './lists/pages.js'
import { searchCases } from './lists/search.js'
import type { StorageCase } from './support/case.js'
import { listCases } from './webhooks/list.js'
import { secretCases } from './webhooks/secrets.js'
import { writeCases } from './webhooks/write.js'

/**
 * What a `RecruitingStorage` must do, each case on an empty storage of its own. A vendor whose webhooks and deliveries
 * come from elsewhere filters by `group`.
 */
export const storageCases: readonly StorageCase[] = Object.freeze([
  ...orderCases,
  ...searchCases,
  ...filterCases,
  ...pageCases,
  ...contentCases,
  ...writeCases,
  ...listCases,
  ...secretCases,
  ...recordCases,
  ...claimCases,
  ...fairnessCases,
  ...leaseCases,
  ...completeCases,
  ...holdCases,
  ...healthCases,
  ...noticeCases,
  ...logCases,
  ...replayCases,
  ...pruneCases,
  ...eraseCases,
  ...pendingCases,
  ...onDueCases
])

export {
  type EmittedEntry,
  type EventRecorder,
  type RecordEventsOptions,
  recordEvents
} from '../recorder/record-events.js'
export { keyLookupCases } from './key-cases.js'
export { storageCases } from './storage-cases.js'
export { type CaseResult, formatReport, runCases, type RunOptions } from './report.js'
export type { KeyLookupCase, StorageCase, StorageGroup } from './support/case.js'
export { testTenants } from './support/harness.js'
export type {
  AnyStorageHarness,
  KeyHarness,
  MakeKeyLookup,
  MakeStorage,
  OpenTransaction,
  SavedCandidate,
  SavedJob,
  SavedKey,
  StorageHarness
} from './support/harness.js'

export {
  type EmittedEntry,
  type EventRecorder,
  type RecordEventsOptions,
  recordEvents
} from '../recorder/record-events.js'
export { keyLookupCases } from './key-lookup-cases.js'
export { storageCases } from './storage-cases.js'
export { formatReport } from './report/format.js'
export { runCases } from './report/run.js'
export type { CaseResult, RunOptions } from './report/run.js'
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

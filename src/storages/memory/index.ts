export { memoryKeyLookup } from './key-lookup.js'
export type { MemoryApiKey, MemoryKeyLookupOptions } from './key-lookup.js'
export { memoryChanges } from './changes.js'
export type { MemoryChanges, MemoryChangesOptions } from './changes.js'
export { candidatesFrom, jobsFrom } from './lists/from-rows.js'
export type { FromRowsOptions, LoadRows, LoadedCandidate, LoadedJob } from './lists/from-rows.js'
export { memoryStorage } from './storage.js'
export type { MemoryStorage, MemoryStorageOptions, MemoryTenant } from './storage.js'
export type {
  IdOf, IntegerIds, MemoryCandidate, MemoryCandidateSource, MemoryJob, MemoryJobSource
} from './lists/rows.js'
export type { EditableRows } from './lists/row-source.js'

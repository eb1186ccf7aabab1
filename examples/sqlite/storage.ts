import type { Id, RecruitingStorage } from 'fastify-recruiting-api'
import type { Kysely } from 'kysely'
import { createClaiming } from './deliveries/claim.js'
import { createAttempts } from './deliveries/attempts.js'
import { createHousekeeping } from './deliveries/housekeeping.js'
import { createLog } from './deliveries/log.js'
import { createRecording } from './deliveries/record.js'
import { createReplaying } from './deliveries/replay.js'
import { createCandidates, createJobs } from './rows.js'
import { createSubjects } from './deliveries/subjects.js'
import type { Schema } from './schema.js'
import { createWebhooks } from './webhooks.js'

/** The context that all parts of the storage share. */
export interface Context {
  db: Kysely<Schema>
  /** Milliseconds since the epoch. */
  now: () => number
  /** Calls the listeners of `onDue`. */
  notify: () => void
}

/** Creates a storage in one SQLite database, for a single process. */
export function sqliteStorage (db: Kysely<Schema>, { now = Date.now } = {}): RecruitingStorage<Id, Id, Id, Id> {
  const listeners = new Set<{ call: () => void }>()
  const notify = (): void => { for (const { call } of [...listeners]) call() }
  const context: Context = { db, now, notify }
  return {
    candidates: createCandidates(db),
    jobs: createJobs(db),
    webhooks: createWebhooks(context),
    deliveries: {
      ...createRecording(context),
      ...createClaiming(context),
      ...createAttempts(context),
      ...createLog(context),
      ...createReplaying(context),
      ...createHousekeeping(context),
      ...createSubjects(context),
      onDue (call) {
        const listener = { call }
        listeners.add(listener)
        return () => { listeners.delete(listener) }
      }
    }
  }
}

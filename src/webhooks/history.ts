import { RecruitingApiError } from '../errors.js'
import type { Clock, DeliveryStore, EventFeed } from '../ports/index.js'
import { createSlots } from '../shared/clock.js'

const maxReaders = 2
const waitMs = 1000
/** Earlier pages of a log are cheap. */
const deepOffset = 10_000

/** The calls of tenants and hosts that read stored events and deliveries. */
export type History = Pick<
  DeliveryStore, 'list' | 'count' | 'find' | 'replay' | 'countReplay' | 'retry' | 'erase' | 'listSubjectEvents'
> & Partial<Pick<EventFeed, 'latest'>>

/** Runs a call in a slot, in the order of the calls. */
export type RunInSlot = <Result>(work: () => Promise<Result>) => Promise<Result>

/**
 * Lets at most two calls of the process at a time read a tenant's history, because their cost grows with what the
 * tenant stores: otherwise one tenant could take every connection. A call waits a second for its turn, then rejects
 * with `busy`.
 */
export function limitHistory (deliveries: DeliveryStore, feed: EventFeed | undefined, run: RunInSlot): History {
  return {
    list (...values) {
      const [, , { offset }] = values
      return offset < deepOffset ? deliveries.list(...values) : run(() => deliveries.list(...values))
    },
    find: (...values) => deliveries.find(...values),
    retry: (...values) => deliveries.retry(...values),
    count: (...values) => run(() => deliveries.count(...values)),
    replay: (...values) => run(() => deliveries.replay(...values)),
    countReplay: (...values) => run(() => deliveries.countReplay(...values)),
    erase: (...values) => run(() => deliveries.erase(...values)),
    listSubjectEvents: (...values) => run(() => deliveries.listSubjectEvents(...values)),
    ...feed === undefined ? {} : { latest: (...values) => run(() => feed.latest(...values)) }
  }
}

/** Creates the slots of a process, for all of its engines: they usually share a pool. */
export function createHistorySlots (clock: Clock): RunInSlot {
  return createSlots(maxReaders, waitMs, clock, () =>
    new RecruitingApiError('busy', 'too many calls read the history of tenants: try again in 5 seconds')).run
}

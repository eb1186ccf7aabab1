import { setTimeout as sleep } from 'node:timers/promises'
import { RecruitingApiError } from '../../core/shared/errors.js'
import { systemClock } from '../../core/shared/clock.js'
import { createPlaces } from '../../core/shared/places.js'

const waitMs = 5000
const longestDelayMs = 200

export type Turns = ReturnType<typeof createTurns>

/**
 * Returns a function that runs a tenant's write, such as a new key, which must not run at the same time as another one.
 * A write that finds the other one's lock returns `'busy'`, releases its connection and is repeated, for up to five
 * seconds. Few writes run at a time, in turns by tenant. Rejects with `busy`. `what` is the plural in its message.
 */
export function createTurns (what: string) {
  const full = () => new RecruitingApiError('busy', `other calls are changing the tenant's ${what}`)
  const places = createPlaces({ count: 4, waitMs, maxWaiting: 100, clock: systemClock, full })

  return async function takeTurn<Result> (tenant: string, write: () => Promise<Result | 'busy'>): Promise<Result> {
    const end = systemClock.monotonic() + waitMs
    for (let delayMs = 5; ; delayMs = Math.min(2 * delayMs, longestDelayMs)) {
      const result = await places.run(tenant, write)
      if (result !== 'busy') return result
      if (systemClock.monotonic() >= end) throw full()
      await sleep(delayMs * (0.5 + Math.random()))
    }
  }
}

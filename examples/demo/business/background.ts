import {
  applicationAdvances, applicationIsRejected, candidateApplies, candidateComesBack, candidateIsHired
} from './applications.js'
import { candidateIsUpdated, jobIsPublished } from './changes.js'
import type { Print } from '../console.js'
import type { Action, Office } from './office.js'

/** A day in the life of an ATS, over and over. */
const day: readonly Action[] = [
  candidateApplies,
  applicationAdvances,
  jobIsPublished,
  candidateComesBack,
  candidateIsHired,
  candidateIsUpdated,
  applicationAdvances,
  applicationIsRejected
]

export interface Happenings {
  /** Resolves when what is happening has happened. */
  stop (): Promise<void>
}

/** Lets something happen now and then every `everyMs` milliseconds, in one office after the other. */
export function startHappenings (offices: readonly Office[], { everyMs, print }: { everyMs: number, print: Print }): Happenings {
  let count = 0
  let latest = happen()
  const timer = setInterval(() => { latest = latest.then(happen) }, everyMs)

  async function happen (): Promise<void> {
    const office = offices[count % offices.length]
    const action = day[Math.floor(count / offices.length) % day.length]
    count += 1
    if (office === undefined || action === undefined) return
    try {
      const sentence = await action(office)
      if (sentence !== null) print('ats', office.tenant.slug, sentence)
    } catch (error) {
      print('ats', office.tenant.slug, `could not do it: ${String(error)}`)
    }
  }

  return {
    stop () {
      clearInterval(timer)
      return latest
    }
  }
}

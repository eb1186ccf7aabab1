import {
  applicationAdvances, applicationIsRejected, candidateApplies, candidateComesBack, candidateIsHired
} from './applications.js'
import { candidateIsUpdated, jobIsPublished } from './changes.js'
import type { Action, Office } from './office.js'

/** The actions, in a loop. */
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

export interface BackgroundOptions {
  /** Milliseconds between two actions. */
  everyMs: number
  /** Called with a sentence about each action. */
  onNews: (tenantSlug: string, sentence: string) => void
}

/** Simulates the work of recruiters in the background. */
export interface Background {
  isPaused: boolean
  /** Runs the first action now. */
  start (): void
  /** Stops. Resolves when the current action has finished. */
  stop (): Promise<void>
}

/** Runs one action every `everyMs` milliseconds, in each office in turn. */
export function createBackground (offices: readonly Office[], { everyMs, onNews }: BackgroundOptions): Background {
  let count = 0
  let latest = Promise.resolve()
  let timer: NodeJS.Timeout | undefined

  async function act (): Promise<void> {
    const office = offices[count % offices.length]
    const action = day[Math.floor(count / offices.length) % day.length]
    count += 1
    if (office === undefined || action === undefined) return
    try {
      onNews(office.tenant.slug, await action(office))
    } catch (error) {
      onNews(office.tenant.slug, `The action failed: ${String(error)}`)
    }
  }

  const background: Background = {
    isPaused: false,
    start () {
      latest = act()
      timer = setInterval(() => { if (!background.isPaused) latest = latest.then(act) }, everyMs)
    },
    stop () {
      clearInterval(timer)
      return latest
    }
  }
  return background
}

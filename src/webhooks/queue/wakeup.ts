import type { Clock } from '../../ports/index.js'

/** Lets a loop sleep until there is something to do. */
export interface Wakeup {
  /** Ends the sleep, or the next one if it has not begun. */
  wake (): void
  /** Forgets the calls of `wake` until now. */
  reset (): void
  /** Sleeps for `timeoutMs` at most; `deaf` to calls of `wake` if it says so. */
  wait (timeoutMs: number, options: { deaf: boolean }): Promise<void>
  /** Ends every sleep, deaf ones too, for good. */
  end (): void
}

/** Sleeps by the time of `clock`. */
export function createWakeup (clock: Clock): Wakeup {
  let isWoken = false
  let isEnded = false
  let isDeaf = false
  let awake: () => void = () => {}

  return {
    wake () {
      isWoken = true
      if (!isDeaf) awake()
    },
    reset () {
      isWoken = false
    },
    wait (timeoutMs, { deaf }) {
      if (isEnded || (isWoken && !deaf)) return Promise.resolve()
      isDeaf = deaf
      return new Promise((resolve) => {
        const timer = clock.setTimeout(done, timeoutMs)
        awake = done
        function done (): void {
          clock.clearTimeout(timer)
          awake = () => {}
          isDeaf = false
          resolve()
        }
      })
    },
    end () {
      isEnded = true
      awake()
    }
  }
}

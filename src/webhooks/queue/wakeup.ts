import type { Clock } from '../../ports/index.js'

/** Lets a loop sleep until it is woken. */
export interface Wakeup {
  /** Ends the current sleep, or else the next one. */
  wake (): void
  /** Forgets earlier calls of `wake`. */
  reset (): void
  /** Sleeps for up to `timeoutMs`. If `deaf`, ignores calls of `wake`. */
  wait (timeoutMs: number, options: { deaf: boolean }): Promise<void>
  /** Ends every sleep from now on, deaf ones too. */
  end (): void
}

/** Sleeps in the time of `clock`. */
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

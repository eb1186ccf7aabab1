import type { Clock } from '../../ports/index.js'

/** Lets a loop sleep until it is woken. */
export interface Wakeup {
  /** Ends the current sleep, or else the next one. */
  wake (): void
  /** Forgets earlier calls of `wake`. */
  reset (): void
  /** Sleeps for up to `timeoutMs`. If `ignoreWakes`, ignores calls of `wake`. */
  wait (timeoutMs: number, options: { ignoreWakes: boolean }): Promise<void>
  /** Ends every sleep from now on, those that ignore `wake` too. */
  end (): void
}

/** Sleeps in the time of `clock`. */
export function createWakeup (clock: Clock): Wakeup {
  let isWoken = false
  let isEnded = false
  let isIgnoring = false
  let awake: () => void = () => {}

  return {
    wake () {
      isWoken = true
      if (!isIgnoring) awake()
    },
    reset () {
      isWoken = false
    },
    wait (timeoutMs, { ignoreWakes }) {
      if (isEnded || (isWoken && !ignoreWakes)) return Promise.resolve()
      isIgnoring = ignoreWakes
      return new Promise((resolve) => {
        const timer = clock.setTimeout(done, timeoutMs)
        awake = done
        function done (): void {
          clock.clearTimeout(timer)
          awake = () => {}
          isIgnoring = false
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

/** A counting semaphore. */
export interface Slots {
  /** Takes a slot. Rejects if none becomes free in time. */
  acquire (): Promise<void>
  /** Frees the slot of an `acquire`. */
  release (): void
  /** Rejects all waiting callers. */
  close (): void
}

/** Has `capacity` slots; callers wait for one for up to `waitMs`. */
export function createSlots (capacity: number, waitMs: number): Slots {
  const waiting = new Map<() => void, (error: Error) => void>()
  let free = capacity

  return {
    async acquire () {
      if (free > 0) {
        free--
        return
      }
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>((resolve, reject) => {
        waiting.set(resolve, reject)
        timer = setTimeout(() => {
          waiting.delete(resolve)
          reject(new Error('no slot was free in time'))
        }, waitMs)
      }).finally(() => clearTimeout(timer))
    },
    release () {
      const [next] = waiting.keys()
      if (next === undefined) {
        free++
        return
      }
      waiting.delete(next)
      next()
    },
    close () {
      for (const reject of waiting.values()) reject(new Error('closed'))
      waiting.clear()
    }
  }
}

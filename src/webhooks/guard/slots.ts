/** Bounds how much of something goes on at once. */
export interface Slots {
  /** Rejects if none is free for too long, for whoever asked has given up by then. */
  take (): Promise<void>
  /** Frees what `take` took. */
  give (): void
  /** Rejects all that wait. */
  close (): void
}

/** `waitMs` is the longest that anybody waits for one of `count`. */
export function createSlots (count: number, waitMs: number): Slots {
  const waiting = new Map<() => void, (error: Error) => void>()
  let free = count

  function next (): (() => void) | undefined {
    const [resolve] = waiting.keys()
    if (resolve !== undefined) waiting.delete(resolve)
    return resolve
  }

  return {
    async take () {
      if (free > 0) {
        free--
        return
      }
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>((resolve, reject) => {
        waiting.set(resolve, reject)
        timer = setTimeout(() => {
          waiting.delete(resolve)
          reject(new Error('none was free in time'))
        }, waitMs)
      }).finally(() => clearTimeout(timer))
    },
    give () {
      const resolve = next()
      if (resolve === undefined) free++
      else resolve()
    },
    close () {
      for (const reject of waiting.values()) reject(new Error('closed'))
      waiting.clear()
    }
  }
}

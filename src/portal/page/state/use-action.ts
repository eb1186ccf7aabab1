import { useRef, useState } from 'preact/hooks'
import type { Failure, Result } from '../api/failure.js'

/** Something that changes data. */
export interface Action<Args extends readonly unknown[], Value> {
  /** Runs it; `null` while it is under way already. */
  run (...args: Args): Promise<Result<Value> | null>
  isBusy: boolean
  /** Of the last run. */
  failure: Failure | null
  clear (): void
}

/** Runs one change at a time: a second click does nothing. */
export function useAction<Args extends readonly unknown[], Value> (change: (...args: Args) => Promise<Result<Value>>): Action<Args, Value> {
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)
  const underWay = useRef(false)

  async function run (...args: Args): Promise<Result<Value> | null> {
    if (underWay.current) return null
    underWay.current = true
    setBusy(true)
    setFailure(null)
    try {
      const result = await change(...args)
      setFailure(result.failure)
      return result
    } finally {
      underWay.current = false
      setBusy(false)
    }
  }

  return { run, isBusy, failure, clear: () => setFailure(null) }
}

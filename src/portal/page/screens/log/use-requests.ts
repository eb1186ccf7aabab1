import { useEffect, useRef, useState } from 'preact/hooks'
import type { Failure, Result } from '../../api/failure.js'

const leastRestMs = 5000
/** A slow API is asked less often: it works for the log during a twentieth of the time at most. */
const restPerWork = 20

/** Sends one request at a time, and none once the component is gone. */
export function useRequests () {
  const [failure, setFailure] = useState<Failure | null>(null)
  const [isLoading, setLoading] = useState(false)
  const [restMs, setRestMs] = useState(leastRestMs)
  const isUnderWay = useRef(false)
  const [controller] = useState(() => new AbortController())
  useEffect(() => () => controller.abort(), [])

  /** Calls `take` with the answer. Does nothing while another request is under way. */
  async function ask<Value> (request: (signal: AbortSignal) => Promise<Result<Value>>, take: (value: Value) => void): Promise<void> {
    if (isUnderWay.current || controller.signal.aborted) return
    isUnderWay.current = true
    setLoading(true)
    const begin = performance.now()
    const result = await request(controller.signal).catch(() => null)
    isUnderWay.current = false
    if (result === null) return
    const { value, failure } = result
    const workMs = performance.now() - begin
    setLoading(false)
    setFailure(failure)
    setRestMs(Math.ceil(Math.max(leastRestMs, failure?.retryAfterMs ?? 0, restPerWork * workMs) / 1000) * 1000)
    if (value !== null) take(value)
  }

  return { ask, failure, isLoading, restMs }
}

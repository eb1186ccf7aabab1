import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Failure, Result } from '../api/failure.js'

/** Something that is read from the API. */
export interface Query<Value> {
  /** The last value, kept while another one loads and if that fails. */
  value: Value | null
  failure: Failure | null
  isLoading: boolean
  reload (): void
  /** Replaces the value, for example by what an update returned. */
  set (value: Value): void
}

interface State<Value> {
  value: Value | null
  failure: Failure | null
  isLoading: boolean
}

/** Reads when the component appears, when one of `inputs` changes, and when the connection is back after a failure. */
export function useQuery<Value> (load: (signal: AbortSignal) => Promise<Result<Value>>, inputs: readonly unknown[]): Query<Value> {
  const [state, setState] = useState<State<Value>>({ value: null, failure: null, isLoading: true })
  const [turn, setTurn] = useState(0)
  const reload = useCallback(() => setTurn((previous) => previous + 1), [])
  const loadLatest = useRef(load)
  loadLatest.current = load

  useEffect(() => {
    const controller = new AbortController()
    setState((previous) => ({ ...previous, isLoading: true }))
    loadLatest.current(controller.signal).then((result) => {
      if (controller.signal.aborted) return
      setState((previous) => ({ value: result.value ?? previous.value, failure: result.failure, isLoading: false }))
    }, () => {})
    return () => controller.abort()
  }, [...inputs, turn])

  const isCutOff = state.failure?.status === 0
  useEffect(() => {
    if (!isCutOff) return
    addEventListener('online', reload)
    return () => removeEventListener('online', reload)
  }, [isCutOff])

  const set = useCallback((value: Value) => setState({ value, failure: null, isLoading: false }), [])
  return { ...state, reload, set }
}

import { useEffect, useRef, useState } from 'preact/hooks'

/** Returns the time, again every so often. */
export function useNow (everyMs: number): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}

/** Calls back every so often while the page is visible, and when it becomes visible again. `null` stops it. */
export function useEvery (everyMs: number | null, callback: () => void): void {
  const latest = useRef(callback)
  latest.current = callback
  useEffect(() => {
    if (everyMs === null) return
    const call = () => { if (document.visibilityState === 'visible') latest.current() }
    const timer = setInterval(call, everyMs)
    document.addEventListener('visibilitychange', call)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', call)
    }
  }, [everyMs])
}

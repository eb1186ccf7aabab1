import { type RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** The rows to render, and how high each is. */
export interface Window {
  from: number
  to: number
  rowHeight: number
}

/** Rows beyond the edges of the screen, so that the keyboard and the wheel find them. */
const spare = 10
/** The window moves by several rows at once. */
const step = 5

/**
 * Returns which rows of a list are on the screen, whatever scrolls: the page, a part of the host's page, or the page
 * around an iframe of its own size. All rows have the height of the first.
 */
export function useWindow (list: RefObject<HTMLElement | null>): Window {
  const [window, setWindow] = useState<Window>({ from: 0, to: 3 * spare, rowHeight: 0 })
  const measure = useRef(() => {})
  measure.current = () => {
    const { current } = list
    if (current === null) return
    const rowHeight = current.firstElementChild?.getBoundingClientRect().height ?? 0
    if (rowHeight === 0) return
    const { top } = current.getBoundingClientRect()
    const first = Math.floor(-top / rowHeight) - spare
    const last = Math.ceil((innerHeight - top) / rowHeight) + spare
    const from = Math.max(0, Math.floor(first / step) * step)
    const to = Math.max(from, Math.ceil(last / step) * step)
    setWindow((known) => known.from === from && known.to === to && known.rowHeight === rowHeight ? known : { from, to, rowHeight })
  }
  useLayoutEffect(() => measure.current())
  useLayoutEffect(() => {
    let frame = 0
    const later = () => {
      cancelAnimationFrame(frame)
      frame = requestAnimationFrame(() => measure.current())
    }
    const sizes = new ResizeObserver(later)
    if (list.current !== null) sizes.observe(list.current)
    // Caught on its way down, also from a part of the host's page that scrolls.
    document.addEventListener('scroll', later, { capture: true, passive: true })
    addEventListener('resize', later)
    return () => {
      cancelAnimationFrame(frame)
      sizes.disconnect()
      document.removeEventListener('scroll', later, { capture: true })
      removeEventListener('resize', later)
    }
  }, [])
  return window
}

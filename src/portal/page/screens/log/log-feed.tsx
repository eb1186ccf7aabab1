import type { RefObject } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { useFormat } from '../../state/portal.js'
import { LogRow } from './log-row.js'
import { type LogRows, hasMore } from './rows.js'
import { useWindow } from './use-window.js'

interface LogFeedProps {
  feed: RefObject<HTMLDivElement | null>
  /** Set to the rows that are on the screen. */
  sight: { current: { from: number, to: number } }
  webhookId: number
  log: LogRows
  isLoading: boolean
  onNearEnd: () => void
  onOpen: (deliveryId: number) => void
  /** The delivery that gets the focus at first. */
  returnTo: number | null
}

/** Further rows are loaded when the end is as near as this. */
const rowsAhead = 30

/**
 * Rows of which only those on the screen are in the document, and the one with the focus. A feed, because the list has
 * no end: screen readers say the number of each row, and Page Down and Page Up go from row to row.
 */
export function LogFeed ({ feed, sight, webhookId, log, isLoading, onNearEnd, onOpen, returnTo }: LogFeedProps) {
  const { messages: { log: texts, shell } } = useFormat()
  const id = useId()
  const end = useRef<HTMLParagraphElement>(null)
  const [focused, setFocused] = useState(returnTo)
  const { rows, total } = log
  const { from, to, rowHeight } = useWindow(feed)
  const focusedIndex = focused === null ? -1 : rows.findIndex((row) => row.id === focused)
  sight.current = { from, to }

  useEffect(() => { if (to > rows.length - rowsAhead) onNearEnd() }, [to, log, isLoading])
  // The title of the screen gets the focus first.
  useEffect(() => { if (returnTo !== null) requestAnimationFrame(() => focusRow(feed.current, returnTo)) }, [])

  const goTo = (index: number) => {
    const row = rows[Math.max(0, index)]
    if (row === undefined) return
    setFocused(row.id)
    requestAnimationFrame(() => focusRow(feed.current, row.id))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const actions: Record<string, () => void> = {
      PageDown: () => goTo(focusedIndex + 1),
      PageUp: () => goTo(focusedIndex - 1),
      'ctrl-Home': () => feed.current?.closest('.log')?.querySelector<HTMLElement>('select')?.focus(),
      'ctrl-End': () => end.current?.focus()
    }
    const act = actions[`${event.ctrlKey ? 'ctrl-' : ''}${event.key}`]
    if (act === undefined) return
    event.preventDefault()
    act()
  }
  return (
    <>
      <p class='unseen' id={id}>{texts.keys}</p>
      <div
        ref={feed} class='rows log-rows' role='feed' aria-label={texts.list} aria-describedby={id} aria-busy={isLoading && hasMore(log)}
        style={{ blockSize: rowHeight === 0 ? '' : `${rows.length * rowHeight}px` }} onKeyDown={onKeyDown} onFocusOut={() => setFocused(null)}
      >
        {visibleIndexes(from, Math.min(to, rows.length), focusedIndex).map((index) => {
          const row = rows[index]
          return row !== undefined && (
            <LogRow
              key={row.id} webhookId={webhookId} delivery={row} position={index + 1} size={total} offset={index * rowHeight}
              onFocus={setFocused} onOpen={onOpen}
            />
          )
        })}
      </div>
      {hasMore(log) && <p class='log-more muted'><span class='spinner' /> {shell.loading}</p>}
      <p class='unseen' ref={end} tabIndex={-1}>{texts.end}</p>
    </>
  )
}

/** The rows on the screen, and the one with the focus. */
function visibleIndexes (from: number, to: number, focused: number): number[] {
  const indexes = Array.from({ length: Math.max(0, to - from) }, (_, offset) => from + offset)
  if (focused < 0 || (focused >= from && focused < to)) return indexes
  return focused < from ? [focused, ...indexes] : [...indexes, focused]
}

function focusRow (feed: HTMLElement | null, deliveryId: number): void {
  feed?.querySelector<HTMLElement>(`[data-id="${deliveryId}"] .row-link`)?.focus()
}

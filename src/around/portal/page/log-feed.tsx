import type { RefObject } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Delivery } from './api.js'
import { usePortal } from './hooks.js'
import { type LogRows, hasMore } from './deliveries.js'
import { Icon, Link } from './parts/controls.js'
import { Countdown, Name, Status, TimeAgo, Url } from './parts/feedback.js'
import { describeResult, tones } from './text.js'

interface LogFeedProps {
  feed: RefObject<HTMLDivElement | null>
  /** Set to the visible rows. */
  sight: { current: { from: number, to: number } }
  webhookId: number
  log: LogRows
  isLoading: boolean
  onNearEnd: () => void
  onOpen: (deliveryId: number) => void
  /** The delivery that gets the initial focus. */
  returnTo: number | null
}

/** Loads more when the end is this many rows away. */
const rowsAhead = 30

/**
 * Renders only the visible rows and the focused one. The role is `feed`, because the list loads as it scrolls. Screen
 * readers announce the number of each row. Page Down and Page Up move between rows.
 */
export function LogFeed ({ feed, sight, webhookId, log, isLoading, onNearEnd, onOpen, returnTo }: LogFeedProps) {
  const { messages: { log: texts, shell } } = usePortal()
  const id = useId()
  const end = useRef<HTMLParagraphElement>(null)
  const nextFocus = useRef(0)
  const [focused, setFocused] = useState(returnTo)
  const { rows, total, isCapped } = log
  const { from, to, rowHeight } = useWindow(feed)
  const isLoadingMore = isLoading && hasMore(log) && to > rows.length - rowsAhead
  const focusedIndex = focused === null ? -1 : rows.findIndex((row) => row.id === focused)
  sight.current = { from, to }

  useEffect(() => { if (to > rows.length - rowsAhead) onNearEnd() }, [to, log, isLoading])
  // The title of the screen gets the focus first.
  useEffect(() => { if (returnTo !== null) requestAnimationFrame(() => focusRow(feed.current, returnTo)) }, [])

  const goTo = (index: number) => {
    const row = rows[Math.max(0, index)]
    if (row === undefined) return
    setFocused(row.id)
    nextFocus.current = requestAnimationFrame(() => focusRow(feed.current, row.id))
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
    // The latest key wins.
    cancelAnimationFrame(nextFocus.current)
    act()
  }
  return (
    <>
      <p class='unseen' id={id}>{texts.keys}</p>
      <div
        ref={feed}
        class='rows log-rows'
        role='feed'
        aria-label={texts.list}
        aria-describedby={id}
        aria-busy={isLoadingMore}
        style={{ blockSize: rowHeight === 0 ? '' : `${rows.length * rowHeight}px` }}
        onKeyDown={onKeyDown}
        onFocusOut={() => setFocused(null)}
      >
        {visibleIndexes(from, Math.min(to, rows.length), focusedIndex).map((index) => {
          const row = rows[index]
          return (
            row !== undefined && (
              <LogRow
                key={row.id}
                webhookId={webhookId}
                delivery={row}
                position={index + 1}
                size={isCapped ? -1 : total}
                offset={index * rowHeight}
                onFocus={setFocused}
                onOpen={onOpen}
              />
            )
          )
        })}
      </div>
      <p class={isLoadingMore ? 'log-more muted' : 'unseen'} ref={end} tabIndex={-1}>
        {isLoadingMore && <><span class='spinner' /> {shell.loading}</>}
        {!isLoadingMore && (hasMore(log) ? texts.more : texts.end)}
      </p>
    </>
  )
}

/** The indexes of the visible rows and of the focused row. */
function visibleIndexes (from: number, to: number, focused: number): number[] {
  const indexes = Array.from({ length: Math.max(0, to - from) }, (_, offset) => from + offset)
  if (focused < 0 || (focused >= from && focused < to)) return indexes
  return focused < from ? [focused, ...indexes] : [...indexes, focused]
}

function focusRow (feed: HTMLElement | null, deliveryId: number): void {
  feed?.querySelector<HTMLElement>(`[data-id="${deliveryId}"] .row-link`)?.focus()
}

interface LogRowProps {
  webhookId: number
  delivery: Delivery
  /** From 1. */
  position: number
  /** -1 if it is unknown. */
  size: number
  /** From the top of the list, in pixels. */
  offset: number
  onFocus: (deliveryId: number) => void
  onOpen: (deliveryId: number) => void
}

function LogRow ({ webhookId, delivery, position, size, offset, onFocus, onOpen }: LogRowProps) {
  const { messages: { log }, text } = usePortal()
  const { id, event_type: eventType, status, next_attempt_at: nextAt } = delivery
  return (
    <article
      class='row log-row'
      aria-posinset={position}
      aria-setsize={size}
      aria-label={`${eventType}, ${log.status[status]}`}
      data-id={id}
      style={{ insetBlockStart: `${offset}px` }}
      onFocusIn={() => onFocus(id)}
      onClick={() => onOpen(id)}
    >
      <div class='row-main'>
        <h3>
          <Link to={{ screen: 'delivery', id: webhookId, deliveryId: id }} look='row-link'><Name>{eventType}</Name></Link>
        </h3>
        <Url>{delivery.event_id}</Url>
      </div>
      <div class='log-outcome'>
        <p class='log-state'>
          <Status tone={tones[status]}>{log.status[status]}</Status>
          {nextAt !== null && delivery.attempt_count > 0 && (
            <span class='muted'>
              <Countdown at={nextAt} due={log.due} label={(when) => text(log.next, { when })} />
            </span>
          )}
        </p>
        <p class='muted'><LastResult delivery={delivery} /></p>
      </div>
      <p class='log-time muted'><TimeAgo at={delivery.created_at} /></p>
      <Icon name='forward' />
    </article>
  )
}

/** The result of the last attempt, and the number of attempts. */
function LastResult ({ delivery }: { delivery: Delivery }) {
  const format = usePortal()
  const { messages: { log }, plural } = format
  const result = describeResult(delivery, format)
  if (result === null) return <>{delivery.status === 'pending' ? log.answer.none : log.answer.never}</>
  return <>{result}{delivery.attempt_count > 1 && ` · ${plural(log.attempts, delivery.attempt_count)}`}</>
}

/** The rows to render, and their height. */
interface RowWindow {
  from: number
  to: number
  rowHeight: number
}

/** Rows beyond the edges of the screen, so that the keyboard and the wheel reach them. */
const spareRows = 10
/** The window moves by several rows at once. */
const rowStep = 5

/**
 * Returns the visible rows of a list. The user can scroll the page, an element around the portal, or the page around a
 * full-height iframe. All rows have the height of the first.
 */
function useWindow (list: RefObject<HTMLElement | null>): RowWindow {
  const [window, setWindow] = useState<RowWindow>({ from: 0, to: 3 * spareRows, rowHeight: 0 })
  const measure = useRef(() => {})
  measure.current = () => {
    const { current } = list
    if (current === null) return
    const rowHeight = current.firstElementChild?.getBoundingClientRect().height ?? 0
    if (rowHeight === 0) return
    const { top } = current.getBoundingClientRect()
    const first = Math.floor(-top / rowHeight) - spareRows
    const last = Math.ceil((innerHeight - top) / rowHeight) + spareRows
    const from = Math.max(0, Math.floor(first / rowStep) * rowStep)
    // Never empty: the first row determines the height, even while the list is far below the screen.
    const to = Math.max(from + rowStep, Math.ceil(last / rowStep) * rowStep)
    setWindow((known) =>
      known.from === from && known.to === to && known.rowHeight === rowHeight ? known : { from, to, rowHeight }
    )
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
    const controller = new AbortController()
    const { signal } = controller
    // Captured, because scroll events do not bubble.
    document.addEventListener('scroll', later, { signal, capture: true, passive: true })
    addEventListener('resize', later, { signal })
    return () => {
      cancelAnimationFrame(frame)
      sizes.disconnect()
      controller.abort()
    }
  }, [])
  return window
}

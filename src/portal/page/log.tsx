import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { DeliveryStatus, WebhookWithHealth } from './api.js'
import { useCan, useFormat, usePortal } from './hooks.js'
import { isFiltered, noFilter, useLog } from './live-log.js'
import { LogFeed } from './log-feed.js'
import type { Difference, LogFilter, LogPlace, LogRows } from './log-rows.js'
import { Button, Field } from './parts/controls.js'
import { Empty, Problem, Skeleton } from './parts/feedback.js'
import { ReplayButton } from './replay.js'

/** The delivery log of a webhook, newest first. It grows while the user scrolls, so it comes last on a screen. */
export function Log ({ webhook }: { webhook: WebhookWithHealth }) {
  const { logPlace } = usePortal()
  const { messages: { log: texts }, plural } = useFormat()
  const id = useId()
  const [place] = useState(() => takePlace(logPlace, webhook.id))
  const [filter, setFilter] = useState<LogFilter>(place?.filter ?? noFilter)
  const [total, setTotal] = useState<number | null>(null)
  const [types, setTypes] = useState<readonly string[]>(webhook.event_types)
  const canReplay = useCan('replay')
  const isEmpty = total === 0 && !isFiltered(filter)
  const read = (log: LogRows) => {
    setTotal(log.total)
    // Includes event types that the webhook received before they were changed.
    setTypes((known) =>
      log.rows.every((row) => known.includes(row.event_type))
        ? known
        : [...new Set([...known, ...log.rows.map((row) => row.event_type)])]
    )
  }
  return (
    <section class='log' aria-labelledby={id}>
      <header class='section-head'>
        <h2 id={id}>{texts.title}</h2>
        {total !== null && total > 0 && <p class='muted'>{plural(texts.total, total)}</p>}
        {canReplay && !isEmpty && <ReplayButton webhook={webhook} onShowLog={() => setFilter({ ...noFilter })} />}
      </header>
      {!isEmpty && <LogFilters filter={filter} types={types} onFilter={setFilter} />}
      <LogList
        key={Object.values(filter).join('\n')}
        webhookId={webhook.id}
        filter={filter}
        onRows={read}
        onClear={() => setFilter(noFilter)}
        place={filter === place?.filter ? place : null}
      />
    </section>
  )
}

interface LogFiltersProps {
  filter: LogFilter
  /** Event types to choose from. */
  types: readonly string[]
  onFilter: (filter: LogFilter) => void
}

const statuses = ['pending', 'delivered', 'failed', 'skipped', 'cancelled'] as const

function LogFilters ({ filter, types, onFilter }: LogFiltersProps) {
  const { messages: { log: { filter: texts, status: words } } } = useFormat()
  const first = useRef<HTMLSelectElement>(null)
  const clear = () => {
    onFilter(noFilter)
    first.current?.focus()
  }
  return (
    <form class='log-filters' role='search' aria-label={texts.label} onSubmit={(event) => event.preventDefault()}>
      <Field label={texts.status}>
        {(control) => (
          <select
            {...control}
            ref={first}
            value={filter.status}
            onChange={({ currentTarget }) =>
              onFilter({ ...filter, status: currentTarget.value as DeliveryStatus | '' })}
          >
            <option value=''>{texts.anyStatus}</option>
            {statuses.map((status) => (
              <option key={status} value={status}>
                {words[status]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={texts.eventType}>
        {(control) => (
          <select
            {...control}
            value={filter.eventType}
            onChange={({ currentTarget }) => onFilter({ ...filter, eventType: currentTarget.value })}
          >
            <option value=''>{texts.anyType}</option>
            {types.map((type) => (
              <option key={type} value={type}>
                {type}
              </option>
            ))}
          </select>
        )}
      </Field>
      <EventIdField eventId={filter.eventId} onEventId={(eventId) => onFilter({ ...filter, eventId })} />
      {isFiltered(filter) && (
        <Button kind='quiet' icon='close' onClick={clear}>
          {texts.clear}
        </Button>
      )}
    </form>
  )
}

/** Long enough for a typing user. */
const settleMs = 400

function EventIdField ({ eventId, onEventId }: { eventId: string, onEventId: (eventId: string) => void }) {
  const { messages: { log: { filter: texts } } } = useFormat()
  const [typed, setTyped] = useState(eventId)
  useEffect(() => setTyped(eventId), [eventId])
  useEffect(() => {
    const wanted = typed.trim()
    if (wanted === eventId) return
    const timer = setTimeout(() => onEventId(wanted), settleMs)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <Field label={texts.eventId}>
      {(control) => (
        <input
          {...control} type='text' class='mono' dir='ltr' maxLength={64} autoComplete='off' spellcheck={false}
          value={typed} onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      )}
    </Field>
  )
}

interface LogListProps {
  webhookId: number
  filter: LogFilter
  place: LogPlace | null
  onRows: (log: LogRows) => void
  onClear: () => void
}

/** The rows of a log, or a hint if it is empty. New rows wait behind a button while the user reads. */
function LogList ({ webhookId, filter, place, onRows, onClear }: LogListProps) {
  const { format: { messages: { log: texts }, plural }, announce, logPlace } = usePortal()
  const feed = useRef<HTMLDivElement>(null)
  const sight = useRef({ from: 0, to: 0 })
  const { log, waiting, failure, isLoading, ...live } = useLog({
    webhookId,
    filter,
    first: place?.log ?? null,
    isIdle: () => feed.current === null || isIdle(feed.current),
    isInSight: (index) => index >= sight.current.from && index < sight.current.to,
    onArrived: (count) => announce(plural(texts.newer, count))
  })
  useEffect(() => { if (log !== null) onRows(log) }, [log])
  const show = () => {
    live.show()
    feed.current?.scrollIntoView()
    requestAnimationFrame(() => feed.current?.querySelector<HTMLElement>('[aria-posinset="1"] .row-link')?.focus())
  }

  if (log === null) {
    return failure === null
      ? (
        <Skeleton lines={4} />
        )
      : (
        <Problem failure={failure} onRetry={live.refresh} isBusy={isLoading} />
        )
  }
  return (
    <div class='log-body'>
      <Newer waiting={waiting} onShow={show} />
      {log.rows.length === 0 && <NoRows isFiltered={isFiltered(filter)} onClear={onClear} />}
      {log.rows.length > 0 && (
        <LogFeed
          feed={feed}
          sight={sight}
          webhookId={webhookId}
          log={log}
          isLoading={isLoading}
          onNearEnd={live.loadMore}
          returnTo={place?.deliveryId ?? null}
          onOpen={(deliveryId) => {
            logPlace.current = { webhookId, filter, log, deliveryId }
          }}
        />
      )}
      {failure !== null && (
        <div class='log-problem'>
          <Problem failure={failure} onRetry={live.refresh} isBusy={isLoading} />
        </div>
      )}
    </div>
  )
}

function Newer ({ waiting: { added, removed }, onShow }: { waiting: Difference, onShow: () => void }) {
  const { messages: { log: texts }, plural } = useFormat()
  if (added + removed === 0) return null
  return (
    <p class='log-newer'>
      <Button kind='primary' icon='up' onClick={onShow}>
        {added > 0 ? plural(texts.newer, added) : texts.changed}
      </Button>
    </p>
  )
}

function NoRows ({ isFiltered, onClear }: { isFiltered: boolean, onClear: () => void }) {
  const { messages: { log: texts } } = useFormat()
  if (!isFiltered) return <Empty title={texts.empty.title}>{texts.empty.text}</Empty>
  return (
    <Empty title={texts.noMatch.title} action={<Button onClick={onClear}>{texts.filter.clear}</Button>}>
      {texts.noMatch.text}
    </Empty>
  )
}

/** Returns whether the user is at the top, and neither points at a row nor has the focus in one. */
function isIdle (feed: HTMLElement): boolean {
  return feed.getBoundingClientRect().top >= 0 && !feed.matches(':hover, :focus-within')
}

/** Returns the place of a webhook's log, once. */
function takePlace (kept: { current: LogPlace | null }, webhookId: number): LogPlace | null {
  const place = kept.current
  kept.current = null
  return place?.webhookId === webhookId ? place : null
}

import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Delivery, DeliveryQuery, DeliveryStatus, Failure, Page, Result, WebhookWithHealth } from './api.js'
import {
  type Difference,
  type LogFilter,
  type LogPlace,
  type LogRows,
  appendRows,
  compareRows,
  hasMore,
  renewRows,
  startRows,
  updateRows
} from './deliveries.js'
import { useCan, useEvery, useFormat, usePortal } from './hooks.js'
import { LogFeed } from './log-feed.js'
import { Button, Field } from './parts/controls.js'
import { Empty, Problem, Skeleton } from './parts/feedback.js'
import { ReplayButton } from './replay.js'

/** The delivery log of a webhook, newest first. It grows while the user scrolls, so it comes last on a screen. */
export function Log ({ webhook }: { webhook: WebhookWithHealth }) {
  const { logPlace } = usePortal()
  const { messages: { log: texts }, plural, pluralOver } = useFormat()
  const id = useId()
  const [place] = useState(() => takePlace(logPlace, webhook.id))
  const [filter, setFilter] = useState<LogFilter>(place?.filter ?? noFilter)
  const [log, setLog] = useState<LogRows | null>(null)
  const [types, setTypes] = useState<readonly string[]>(webhook.event_types)
  const canReplay = useCan('replay')
  const isEmpty = log?.total === 0 && !isFiltered(filter)
  const read = (log: LogRows) => {
    setLog(log)
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
        {log !== null && log.total > 0 && (
          <p class='muted'>{(log.isCapped ? pluralOver : plural)(texts.total, log.total)}</p>
        )}
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

/** A log that grows at both ends. */
interface LiveLog {
  /** `null` until the first page is there. */
  log: LogRows | null
  /** The changes of the newest page, which wait while the user reads. */
  waiting: Difference
  failure: Failure | null
  isLoading: boolean
  /** Loads the next page, if there is one. */
  loadMore (): void
  /** Reads the newest page. */
  refresh (): void
  /** Shows the newest page. */
  show (): void
}

interface LiveLogOptions {
  webhookId: number
  filter: LogFilter
  /** To begin with, until it is read. */
  first: LogRows | null
  /** Whether rows may move now. */
  isIdle (): boolean
  /** Whether the row with this number is on the screen. */
  isInSight (index: number): boolean
  onArrived (count: number): void
}

type DeliveryPage = Page<Delivery>

/** Enough for a screen, and quick to read every few seconds. */
const newestPerPage = 50
const furtherPerPage = 200

/** Loads a log page by page, and polls for new deliveries while the page is visible. */
export function useLog (options: LiveLogOptions): LiveLog {
  const { log, waiting, add, takeNewest, update, show } = useRows(options)
  const load = useLoad(options)
  const { ask, failure, isLoading, restMs } = useRequests()

  async function refresh (): Promise<void> {
    await ask((signal) => load(1, newestPerPage, signal), takeNewest)
    const stale = log?.rows.findIndex((row, index) => row.status === 'pending' && options.isInSight(index)) ?? -1
    if (stale >= newestPerPage) await ask((signal) => load(pageOf(stale), furtherPerPage, signal), update)
  }

  useEffect(() => { refresh() }, [])
  useEvery(restMs, refresh)
  return {
    log,
    waiting,
    failure,
    isLoading,
    refresh,
    loadMore () {
      if (log !== null && hasMore(log) && failure === null) {
        ask((signal) => load(pageOf(log.loaded), furtherPerPage, signal), add)
      }
    },
    show
  }
}

function pageOf (index: number): number {
  return Math.floor(index / furtherPerPage) + 1
}

function useLoad ({ webhookId, filter }: LiveLogOptions) {
  const { api } = usePortal()
  return (page: number, perPage: number, signal: AbortSignal): Promise<Result<DeliveryPage>> =>
    api.listDeliveries(webhookId, { ...toQuery(filter), page, per_page: perPage }, signal)
}

/** Holds the rows, and what waits to be shown. */
function useRows ({ first, isIdle, onArrived }: LiveLogOptions) {
  const [log, setLog] = useState(first)
  const [newest, setNewest] = useState<DeliveryPage | null>(null)
  const announced = useRef(0)
  // Responses arrive after the render that asked for them.
  const current = useRef(log)
  const change = (next: LogRows) => {
    current.current = next
    setLog(next)
  }

  function takeNewest (page: DeliveryPage): void {
    if (current.current === null) return change(startRows(page))
    const updated = updateRows(current.current, page)
    const { added, removed } = compareRows(updated, page)
    if (added > announced.current) onArrived(added - announced.current)
    const isShown = isIdle()
    announced.current = isShown ? 0 : added
    setNewest(isShown || added + removed === 0 ? null : page)
    change(isShown ? renewRows(updated, page) : updated)
  }

  return {
    log,
    waiting: log === null || newest === null ? { added: 0, removed: 0 } : compareRows(log, newest),
    takeNewest,
    add: (page: DeliveryPage) => change(current.current === null ? startRows(page) : appendRows(current.current, page)),
    update: (page: DeliveryPage) => { if (current.current !== null) change(updateRows(current.current, page)) },
    show () {
      announced.current = 0
      if (current.current !== null && newest !== null) change(renewRows(current.current, newest))
      setNewest(null)
    }
  }
}

const leastRestMs = 5000
/** Polls a slow API less often: the log keeps it busy for at most a twentieth of the time. */
const restPerWork = 20

/** Sends one request at a time, and none once the component is gone. */
function useRequests () {
  const [failure, setFailure] = useState<Failure | null>(null)
  const [isLoading, setLoading] = useState(false)
  const [restMs, setRestMs] = useState(leastRestMs)
  const isInFlight = useRef(false)
  const [controller] = useState(() => new AbortController())
  useEffect(() => () => controller.abort(), [])

  /** Calls `take` with the response. Does nothing while another request is in flight. */
  async function ask<Value> (
    request: (signal: AbortSignal) => Promise<Result<Value>>,
    take: (value: Value) => void
  ): Promise<void> {
    if (isInFlight.current || controller.signal.aborted) return
    isInFlight.current = true
    setLoading(true)
    const begin = performance.now()
    const result = await request(controller.signal).catch(() => null)
    isInFlight.current = false
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

export const noFilter: LogFilter = { status: '', eventType: '', eventId: '' }

export function isFiltered ({ status, eventType, eventId }: LogFilter): boolean {
  return status !== '' || eventType !== '' || eventId !== ''
}

function toQuery ({ status, eventType, eventId }: LogFilter): DeliveryQuery {
  return {
    'filter[status]': status === '' ? undefined : status,
    'filter[event_type]': eventType || undefined,
    'filter[event_id]': eventId || undefined
  }
}

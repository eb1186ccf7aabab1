import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Delivery, DeliveryQuery, Failure, Page, Result, WebhookWithHealth } from './api.js'
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
import { useEvery, usePortal } from './hooks.js'
import { LogFeed } from './log-feed.js'
import { Button } from './parts/controls.js'
import { Empty, Problem, Skeleton } from './parts/feedback.js'
import { SelectField, TextField } from './parts/fields.js'
import { ReplayButton } from './replay.js'

/** The delivery log of a webhook, newest first. It grows while the user scrolls, so it comes last on a screen. */
export function Log ({ webhook }: { webhook: WebhookWithHealth }) {
  const { can, logPlace, messages: { log: texts }, plural, pluralOver } = usePortal()
  const id = useId()
  const [place] = useState(() => takePlace(logPlace, webhook.id))
  const [filter, setFilter] = useState<LogFilter>(place?.filter ?? noFilter)
  const [log, setLog] = useState<LogRows | null>(null)
  const [types, setTypes] = useState<readonly string[]>(webhook.event_types)
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
        {can('replay') && !isEmpty && <ReplayButton webhook={webhook} onShowLog={() => setFilter({ ...noFilter })} />}
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
  const { messages: { log: { filter: texts, status: words } } } = usePortal()
  const form = useRef<HTMLFormElement>(null)
  const clear = () => {
    onFilter(noFilter)
    form.current?.querySelector('select')?.focus()
  }
  return (
    <form
      ref={form} class='log-filters' role='search' aria-label={texts.label}
      onSubmit={(event) => event.preventDefault()}
    >
      <SelectField
        label={texts.status}
        value={filter.status}
        options={[['', texts.anyStatus], ...statuses.map((status) => [status, words[status]] as const)]}
        onValue={(status) => onFilter({ ...filter, status })}
      />
      <SelectField
        label={texts.eventType}
        value={filter.eventType}
        options={[['', texts.anyType], ...types.map((type) => [type, type] as const)]}
        onValue={(eventType) => onFilter({ ...filter, eventType })}
      />
      <EventIdField eventId={filter.eventId} onEventId={(eventId) => onFilter({ ...filter, eventId })} />
      {isFiltered(filter) && <Button kind='quiet' icon='close' onClick={clear}>{texts.clear}</Button>}
    </form>
  )
}

/** Long enough for a typing user. */
const settleMs = 400

function EventIdField ({ eventId, onEventId }: { eventId: string, onEventId: (eventId: string) => void }) {
  const { messages: { log: { filter: texts } } } = usePortal()
  const [typed, setTyped] = useState(eventId)
  useEffect(() => setTyped(eventId), [eventId])
  useEffect(() => {
    const wanted = typed.trim()
    if (wanted === eventId) return
    const timer = setTimeout(() => onEventId(wanted), settleMs)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <TextField
      label={texts.eventId} class='mono' dir='ltr' maxLength={64} spellcheck={false} value={typed} onValue={setTyped}
    />
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
  const { messages: { log: texts }, plural, announce, logPlace } = usePortal()
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
      ? <Skeleton lines={4} />
      : <Problem failure={failure} onRetry={live.refresh} isBusy={isLoading} />
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
          onOpen={(deliveryId) => { logPlace.current = { webhookId, filter, log, deliveryId } }}
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
  const { messages: { log: texts }, plural } = usePortal()
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
  const { messages: { log: texts } } = usePortal()
  if (!isFiltered) return <Empty {...texts.empty} />
  return <Empty {...texts.noMatch} action={<Button onClick={onClear}>{texts.filter.clear}</Button>} />
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

/**
 * Loads a log page by page, and polls for new deliveries while the page is visible. `log` is `null` until the first
 * page is there. The newest page is waiting while the user reads, until `show`.
 */
function useLog (options: LiveLogOptions) {
  const { webhookId, filter, isInSight } = options
  const { api } = usePortal()
  const { log, waiting, add, takeNewest, update, show } = useRows(options)
  const { ask, failure, isLoading, restMs } = useRequests()
  const load = (page: number, perPage: number, take: (page: DeliveryPage) => void) =>
    ask((signal) => {
      return api.webhooks.listDeliveries(webhookId, { ...toQuery(filter), page, per_page: perPage }, signal)
    }, take)

  async function refresh (): Promise<void> {
    await load(1, newestPerPage, takeNewest)
    const stale = log?.rows.findIndex((row, index) => row.status === 'pending' && isInSight(index)) ?? -1
    if (stale >= newestPerPage) await load(pageOf(stale), furtherPerPage, update)
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
      if (log !== null && hasMore(log) && failure === null) load(pageOf(log.loaded), furtherPerPage, add)
    },
    show
  }
}

function pageOf (index: number): number {
  return Math.floor(index / furtherPerPage) + 1
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

const noFilter: LogFilter = { status: '', eventType: '', eventId: '' }

function isFiltered ({ status, eventType, eventId }: LogFilter): boolean {
  return status !== '' || eventType !== '' || eventId !== ''
}

function toQuery ({ status, eventType, eventId }: LogFilter): DeliveryQuery {
  return {
    ...(status !== '' && { 'filter[status]': status }),
    ...(eventType !== '' && { 'filter[event_type]': eventType }),
    ...(eventId !== '' && { 'filter[event_id]': eventId })
  }
}

import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Delivery, DeliveryQuery, Failure, Page, WebhookWithHealth } from './api.js'
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
import { ReplayDialog } from './replay.js'

/** A webhook's delivery log, newest first. It grows as the user scrolls, so it comes last on the screen. */
export function Log ({ webhook }: { webhook: WebhookWithHealth }) {
  const { can, logPlace, messages: { log: texts, replay }, plural, pluralOver } = usePortal()
  const id = useId()
  const [place] = useState(() => takePlace(logPlace, webhook.id))
  const [filter, setFilter] = useState<LogFilter>(place?.filter ?? noFilter)
  const [log, setLog] = useState<LogRows | null>(null)
  const [types, setTypes] = useState<readonly string[]>(webhook.event_types)
  const [isReplaying, setReplaying] = useState(false)
  const isEmpty = log?.total === 0 && !isFiltered(filter)
  const showReplayed = () => {
    setReplaying(false)
    setFilter({ ...noFilter })
  }
  const read = (log: LogRows) => {
    setLog(log)
    // Includes event types that the webhook no longer receives.
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
        {can('replay') && !isEmpty && <Button icon='replay' onClick={() => setReplaying(true)}>{replay.open}</Button>}
        {isReplaying && (
          <ReplayDialog webhook={webhook} onClose={() => setReplaying(false)} onShowLog={showReplayed} />
        )}
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

/** The wait until the user has stopped typing. */
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

/** Returns whether the top is in view, and no row is hovered or focused. */
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
  /** The initial rows, until the log has loaded. */
  first: LogRows | null
  /** Whether rows can move now. */
  isIdle (): boolean
  /** Whether the row with this index is visible. */
  isInSight (index: number): boolean
  onArrived (count: number): void
}

type DeliveryPage = Page<Delivery>

interface LogState {
  /** `null` until the first page has loaded. */
  log: LogRows | null
  /** The newest page, if it is not shown yet. */
  newest: DeliveryPage | null
  /** How many of its deliveries were announced to screen readers. */
  announced: number
  failure: Failure | null
  isLoading: boolean
  restMs: number
}

/** Returns the changes that a page makes to the state. */
type Take = (page: DeliveryPage, log: LogRows | null) => Partial<LogState>

/** Enough for a screen, and quick to read every few seconds. */
const newestPerPage = 50
const furtherPerPage = 200

const leastRestMs = 5000
/** Polls a slow API less often: the log keeps it busy for at most a twentieth of the time. */
const restPerWork = 20

/**
 * Loads a log page by page, and polls for new deliveries while the page is visible. While the user reads, the newest
 * page waits for `show`.
 */
function useLog ({ webhookId, filter, first, isIdle, isInSight, onArrived }: LiveLogOptions) {
  const { api } = usePortal()
  const [state, setState] = useState<LogState>({
    log: first, newest: null, announced: 0, failure: null, isLoading: false, restMs: leastRestMs
  })
  // Responses arrive after the render that asked for them.
  const latest = useRef(state)
  const [controller] = useState(() => new AbortController())

  function change (changes: Partial<LogState>): void {
    latest.current = { ...latest.current, ...changes }
    setState(latest.current)
  }

  /** Sends one request at a time, and none after the component is unmounted. */
  async function load (page: number, perPage: number, take: Take): Promise<void> {
    const { signal } = controller
    if (latest.current.isLoading || signal.aborted) return
    change({ isLoading: true })
    const begin = performance.now()
    const query = { ...toQuery(filter), page, per_page: perPage }
    const result = await api.webhooks.listDeliveries(webhookId, query, signal).catch(() => null)
    if (result === null) return
    const { value, failure } = result
    const leastMs = Math.max(leastRestMs, failure?.retryAfterMs ?? 0, restPerWork * (performance.now() - begin))
    const restMs = Math.ceil(leastMs / 1000) * 1000
    change({ isLoading: false, failure, restMs, ...value && take(value, latest.current.log) })
  }

  const takeNewest: Take = (page, log) => {
    if (log === null) return { log: startRows(page) }
    const updated = updateRows(log, page)
    const { added, removed } = compareRows(updated, page)
    const { announced } = latest.current
    if (added > announced) onArrived(added - announced)
    return isIdle()
      ? { log: renewRows(updated, page), newest: null, announced: 0 }
      : { log: updated, newest: added + removed === 0 ? null : page, announced: added }
  }

  async function refresh (): Promise<void> {
    const before = latest.current.log
    await load(1, newestPerPage, takeNewest)
    const stale = before?.rows.findIndex((row, index) => row.status === 'pending' && isInSight(index)) ?? -1
    if (stale < newestPerPage) return
    await load(pageOf(stale), furtherPerPage, (page, log) => ({ log: log && updateRows(log, page) }))
  }

  useEffect(() => {
    refresh()
    return () => controller.abort()
  }, [])
  useEvery(state.restMs, refresh)
  const { log, newest, failure } = state
  return {
    ...state,
    waiting: log === null || newest === null ? { added: 0, removed: 0 } : compareRows(log, newest),
    refresh,
    loadMore () {
      if (log === null || !hasMore(log) || failure !== null) return
      load(pageOf(log.loaded), furtherPerPage, (page, log) => ({ log: log && appendRows(log, page) }))
    },
    show () {
      if (log !== null && newest !== null) change({ log: renewRows(log, newest), newest: null, announced: 0 })
    }
  }
}

function pageOf (index: number): number {
  return Math.floor(index / furtherPerPage) + 1
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

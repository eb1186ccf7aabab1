import { useEffect, useRef, useState } from 'preact/hooks'
import type { Delivery, DeliveryQuery, Failure, Page, Result } from './api.js'
import { useEvery, usePortal } from './hooks.js'
import {
  type Difference,
  type LogFilter,
  type LogRows,
  appendRows,
  compareRows,
  hasMore,
  renewRows,
  startRows,
  updateRows
} from './log-rows.js'

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

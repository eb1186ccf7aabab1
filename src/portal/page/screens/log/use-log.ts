import { useEffect, useRef, useState } from 'preact/hooks'
import type { Failure, Result } from '../../api/failure.js'
import type { Delivery, Page } from '../../api/types.js'
import { usePortal } from '../../state/portal.js'
import { useEvery } from '../../state/time.js'
import { type LogFilter, toQuery } from './filter.js'
import { type Difference, type LogRows, appendRows, compareRows, hasMore, renewRows, startRows, updateRows } from './rows.js'
import { useRequests } from './use-requests.js'

/** A log that grows at both ends. */
export interface LiveLog {
  /** `null` until the first page is there. */
  log: LogRows | null
  /** The changes of the newest page, which wait while somebody reads. */
  waiting: Difference
  failure: Failure | null
  isLoading: boolean
  /** Loads the page that follows, if there is one. */
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
  isCalm (): boolean
  /** Whether the row with this number is on the screen. */
  isInSight (index: number): boolean
  onArrived (count: number): void
}

type DeliveryPage = Page<Delivery>

/** Enough for a screen, and quick to read every few seconds. */
const newestPerPage = 50
const furtherPerPage = 200

/** Loads a log page by page, and asks for what is new while the page is visible. */
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
      if (log !== null && hasMore(log) && failure === null) ask((signal) => load(pageOf(log.loaded), furtherPerPage, signal), add)
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
function useRows ({ first, isCalm, onArrived }: LiveLogOptions) {
  const [log, setLog] = useState(first)
  const [newest, setNewest] = useState<DeliveryPage | null>(null)
  const announced = useRef(0)
  // Answers arrive after the render that asked for them.
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
    const isShown = isCalm()
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

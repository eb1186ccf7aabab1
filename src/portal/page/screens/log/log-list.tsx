import { useEffect, useRef } from 'preact/hooks'
import { Button } from '../../parts/button.js'
import { Empty } from '../../parts/empty.js'
import { Problem } from '../../parts/problem.js'
import { Skeleton } from '../../parts/skeleton.js'
import { useFormat, usePortal } from '../../state/portal.js'
import { type LogFilter, isFiltered } from './filter.js'
import { LogFeed } from './log-feed.js'
import type { LogPlace } from './place.js'
import type { Difference, LogRows } from './rows.js'
import { useLog } from './use-log.js'

interface LogListProps {
  webhookId: number
  filter: LogFilter
  place: LogPlace | null
  onRows: (log: LogRows) => void
  onClear: () => void
}

/** The rows of a log, and what stands there without any. New ones wait behind a button while somebody reads. */
export function LogList ({ webhookId, filter, place, onRows, onClear }: LogListProps) {
  const { format: { messages: { log: texts }, plural }, announce, logPlace } = usePortal()
  const feed = useRef<HTMLDivElement>(null)
  const sight = useRef({ from: 0, to: 0 })
  const { log, waiting, failure, isLoading, ...live } = useLog({
    webhookId,
    filter,
    first: place?.log ?? null,
    isCalm: () => feed.current === null || isCalm(feed.current),
    isInSight: (index) => index >= sight.current.from && index < sight.current.to,
    onArrived: (count) => announce(plural(texts.newer, count))
  })
  useEffect(() => { if (log !== null) onRows(log) }, [log])
  const show = () => {
    live.show()
    feed.current?.scrollIntoView()
    requestAnimationFrame(() => feed.current?.querySelector<HTMLElement>('[aria-posinset="1"] .row-link')?.focus())
  }

  if (log === null) return failure === null ? <Skeleton lines={4} /> : <Problem failure={failure} onRetry={live.refresh} isBusy={isLoading} />
  return (
    <div class='log-body'>
      <Newer waiting={waiting} onShow={show} />
      {log.rows.length === 0 && <NoRows isFiltered={isFiltered(filter)} onClear={onClear} />}
      {log.rows.length > 0 && (
        <LogFeed
          feed={feed} sight={sight} webhookId={webhookId} log={log} isLoading={isLoading} onNearEnd={live.loadMore} returnTo={place?.deliveryId ?? null}
          onOpen={(deliveryId) => { logPlace.current = { webhookId, filter, log, deliveryId } }}
        />
      )}
      {failure !== null && <div class='log-problem'><Problem failure={failure} onRetry={live.refresh} isBusy={isLoading} /></div>}
    </div>
  )
}

function Newer ({ waiting: { added, removed }, onShow }: { waiting: Difference, onShow: () => void }) {
  const { messages: { log: texts }, plural } = useFormat()
  if (added + removed === 0) return null
  return <p class='log-newer'><Button kind='primary' icon='up' onClick={onShow}>{added > 0 ? plural(texts.newer, added) : texts.changed}</Button></p>
}

function NoRows ({ isFiltered, onClear }: { isFiltered: boolean, onClear: () => void }) {
  const { messages: { log: texts } } = useFormat()
  if (!isFiltered) return <Empty title={texts.empty.title}>{texts.empty.text}</Empty>
  return <Empty title={texts.noMatch.title} action={<Button onClick={onClear}>{texts.filter.clear}</Button>}>{texts.noMatch.text}</Empty>
}

/** Nobody reads further down, points at a row or has the focus in one. */
function isCalm (feed: HTMLElement): boolean {
  return feed.getBoundingClientRect().top >= 0 && !feed.matches(':hover, :focus-within')
}

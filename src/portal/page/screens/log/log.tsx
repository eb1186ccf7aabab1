import { useId, useState } from 'preact/hooks'
import type { WebhookWithHealth } from '../../api/types.js'
import { useCan, useFormat, usePortal } from '../../state/portal.js'
import { ReplayButton } from '../replay/replay-button.js'
import { type LogFilter, isFiltered, noFilter } from './filter.js'
import { LogFilters } from './log-filters.js'
import { LogList } from './log-list.js'
import { takePlace } from './place.js'
import type { LogRows } from './rows.js'

/** The delivery log of a webhook, newest first. It grows as one scrolls, so it comes last on a screen. */
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
    setTypes((known) => log.rows.every((row) => known.includes(row.event_type)) ? known : [...new Set([...known, ...log.rows.map((row) => row.event_type)])])
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
        key={Object.values(filter).join('\n')} webhookId={webhook.id} filter={filter} onRows={read} onClear={() => setFilter(noFilter)}
        place={filter === place?.filter ? place : null}
      />
    </section>
  )
}

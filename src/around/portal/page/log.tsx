import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Delivery, DeliveryQuery, Explanation, WebhookWithHealth } from './api.js'
import type { LogFilter, LogPlace } from './deliveries.js'
import { useAction, usePagedQuery, usePortal, useRefresh } from './hooks.js'
import { Button, Icon, Link, Pager } from './parts/controls.js'
import { Countdown, Empty, Loaded, Name, Notice, Problem, Status, TimeAgo, Url } from './parts/feedback.js'
import { SelectField, TextField } from './parts/fields.js'
import { Dialog } from './parts/frames.js'
import { ReplayDialog } from './replay.js'
import { describeReason, describeResult, tones } from './text.js'

type Mismatch = NonNullable<Explanation['filter']>

/** A webhook's delivery log, newest first. It is last on the screen, because its length changes. */
export function Log ({ webhook }: { webhook: WebhookWithHealth }) {
  const { api, can, logPlace, messages: { explain, log: texts, replay }, plural, pluralOver } = usePortal()
  const id = useId()
  const rows = useRef<HTMLUListElement>(null)
  const [place] = useState(() => takePlace(logPlace, webhook.id))
  const [filter, setFilter] = useState<LogFilter>(place?.filter ?? noFilter)
  const [types, setTypes] = useState<readonly string[]>(webhook.event_types)
  const [isEmpty, setEmpty] = useState(false)
  const [isReplaying, setReplaying] = useState(false)
  const [isExplaining, setExplaining] = useState(false)
  const list = usePagedQuery(
    (query, signal) => api.webhooks.listDeliveries(webhook.id, { ...toQuery(filter), ...query }, signal),
    [filter], place?.page
  )
  const { value, page } = list
  useLayoutEffect(() => {
    setEmpty(value?.meta.total === 0 && !isFiltered(filter))
    // Includes event types that the webhook no longer receives.
    setTypes((known) => [...new Set([...known, ...(value?.data ?? []).map((row) => row.event_type)])])
  }, [value])
  // Rows do not move while the user points at one.
  const isFree = () => rows.current?.matches(':hover, :focus-within') !== true
  useRefresh(list, 10_000, isFree)
  const choose = (next: LogFilter) => {
    setFilter(next)
    list.setPage(1)
  }
  const total = value?.meta.total ?? 0
  return (
    <section class='log' aria-labelledby={id}>
      <header class='section-head'>
        <h2 id={id}>{texts.title}</h2>
        {total > 0 && (
          <p class='muted'>{(value?.meta.total_is_capped === true ? pluralOver : plural)(texts.total, total)}</p>
        )}
        {can('replay') && !isEmpty && <Button icon='replay' onClick={() => setReplaying(true)}>{replay.open}</Button>}
        <Button kind='quiet' onClick={() => setExplaining(true)}>{explain.open}</Button>
        {isExplaining && <ExplainDialog webhookId={webhook.id} onClose={() => setExplaining(false)} />}
        {isReplaying && (
          <ReplayDialog
            webhook={webhook} onClose={() => setReplaying(false)}
            onShowLog={() => { setReplaying(false); choose({ ...noFilter }) }}
          />
        )}
      </header>
      {!isEmpty && <LogFilters filter={filter} types={types} onFilter={choose} />}
      <Loaded query={list}>
        {({ data }) => data.length === 0
          ? <NoRows isFiltered={!isEmpty} onClear={() => choose(noFilter)} />
          : (
            <ul ref={rows} class='rows' aria-label={texts.list}>
              {data.map((delivery) => (
                <LogRow
                  key={delivery.id} webhookId={webhook.id} delivery={delivery}
                  onOpen={() => { logPlace.current = { webhookId: webhook.id, filter, page } }}
                />
              ))}
            </ul>
            )}
      </Loaded>
      <Pager list={list} />
    </section>
  )
}

/** Asks for the id of an event, and shows why the webhook got it or not. */
function ExplainDialog ({ webhookId, onClose }: { webhookId: number, onClose: () => void }) {
  const { api, messages: { explain: texts, log, shell } } = usePortal()
  const [eventId, setEventId] = useState('')
  const [shown, setShown] = useState<Explanation | null>(null)
  const explain = useAction((id: string) => api.webhooks.explain(webhookId, { event_id: id }), setShown)
  const check = () => { if (eventId.trim() !== '') explain.run(eventId.trim()) }
  const actions = (
    <>
      <Button onClick={onClose}>{shell.close}</Button>
      <Button kind='primary' type='submit' isBusy={explain.isBusy}>{texts.check}</Button>
    </>
  )
  return (
    <Dialog title={texts.open} onClose={onClose} onSubmit={check} actions={actions}>
      <p class='muted'>{texts.intro}</p>
      <TextField
        label={log.filter.eventId} class='mono' dir='ltr' maxLength={64} spellcheck={false} value={eventId}
        onValue={setEventId}
      />
      {/* Always rendered, so that screen readers announce what appears in it. */}
      <div aria-live='polite'>
        {explain.failure !== null && <Problem failure={explain.failure} />}
        {shown !== null && explain.failure === null && <Explained webhookId={webhookId} explanation={shown} />}
      </div>
    </Dialog>
  )
}

function Explained ({ webhookId, explanation }: { webhookId: number, explanation: Explanation }) {
  const { messages, text, instant } = usePortal()
  const { explain: texts, log } = messages
  const { reason, filter, until, delivery } = explanation
  return (
    <Notice tone={delivery === null ? 'off' : tones[delivery.status]} title={describeReason(reason, messages)}>
      {until !== null && <p>{text(log.next, { when: instant(until) })}</p>}
      {filter !== null && (
        <p>
          {text(texts.filter, {
            path: filter.path, value: describeValue(filter, texts.missing), expected: JSON.stringify(filter.expected)
          })}
        </p>
      )}
      {delivery !== null && (
        <p><Link to={{ screen: 'delivery', id: webhookId, deliveryId: delivery.id }}>{texts.toDelivery}</Link></p>
      )}
    </Notice>
  )
}

/** Describes a value by its type if it is not shown. */
function describeValue ({ value, value_type: type }: Mismatch, missing: string): string {
  if (type === 'missing') return missing
  return value === null ? type : JSON.stringify(value)
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
        label={texts.status} value={filter.status}
        options={[['', texts.anyStatus], ...statuses.map((status) => [status, words[status]] as const)]}
        onValue={(status) => onFilter({ ...filter, status })}
      />
      <SelectField
        label={texts.eventType} value={filter.eventType}
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

function NoRows ({ isFiltered, onClear }: { isFiltered: boolean, onClear: () => void }) {
  const { messages: { log: texts } } = usePortal()
  if (!isFiltered) return <Empty {...texts.empty} />
  return <Empty {...texts.noMatch} action={<Button onClick={onClear}>{texts.filter.clear}</Button>} />
}

function LogRow ({ webhookId, delivery, onOpen }: { webhookId: number, delivery: Delivery, onOpen: () => void }) {
  const { messages: { log }, text } = usePortal()
  const { id, event_type: eventType, status, next_attempt_at: nextAt } = delivery
  return (
    <li class='row log-row' onClick={onOpen}>
      <div class='row-main'>
        <h3>
          <Link to={{ screen: 'delivery', id: webhookId, deliveryId: id }} look='row-link'>
            <Name>{eventType}</Name>
          </Link>
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
    </li>
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

/** Returns the place of a webhook's log, once. */
function takePlace (kept: { current: LogPlace | null }, webhookId: number): LogPlace | null {
  const place = kept.current
  kept.current = null
  return place?.webhookId === webhookId ? place : null
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

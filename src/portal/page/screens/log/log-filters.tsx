import { useEffect, useRef, useState } from 'preact/hooks'
import type { DeliveryStatus } from '../../api/types.js'
import { Button } from '../../parts/button.js'
import { Field } from '../../parts/field.js'
import { useFormat } from '../../state/portal.js'
import { type LogFilter, isFiltered, noFilter } from './filter.js'

interface LogFiltersProps {
  filter: LogFilter
  /** Event types to choose from. */
  types: readonly string[]
  onFilter: (filter: LogFilter) => void
}

const statuses = ['pending', 'delivered', 'failed', 'skipped', 'cancelled'] as const

export function LogFilters ({ filter, types, onFilter }: LogFiltersProps) {
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
          <select {...control} ref={first} value={filter.status} onChange={({ currentTarget }) => onFilter({ ...filter, status: currentTarget.value as DeliveryStatus | '' })}>
            <option value=''>{texts.anyStatus}</option>
            {statuses.map((status) => <option key={status} value={status}>{words[status]}</option>)}
          </select>
        )}
      </Field>
      <Field label={texts.eventType}>
        {(control) => (
          <select {...control} value={filter.eventType} onChange={({ currentTarget }) => onFilter({ ...filter, eventType: currentTarget.value })}>
            <option value=''>{texts.anyType}</option>
            {types.map((type) => <option key={type} value={type}>{type}</option>)}
          </select>
        )}
      </Field>
      <EventIdField eventId={filter.eventId} onEventId={(eventId) => onFilter({ ...filter, eventId })} />
      {isFiltered(filter) && <Button kind='quiet' icon='close' onClick={clear}>{texts.clear}</Button>}
    </form>
  )
}

/** Long enough for somebody who types. */
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

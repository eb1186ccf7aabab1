import { useEffect, useId, useState } from 'preact/hooks'
import type { EventType } from '../../api/types.js'
import { Icon } from '../../parts/icon.js'
import { Problem } from '../../parts/problem.js'
import { Skeleton } from '../../parts/skeleton.js'
import { useFormat, usePortal } from '../../state/portal.js'
import type { Query } from '../../state/use-query.js'
import { EventGroupChoice } from './event-group.js'
import { groupOptions, optionsOf } from './event-groups.js'

interface EventPickerProps {
  catalogue: Query<EventType[]>
  chosen: readonly string[]
  error: string | null
  onChange: (chosen: readonly string[]) => void
}

/** Chooses event types: by group, with a search. */
export function EventPicker ({ catalogue, chosen, error, onChange }: EventPickerProps) {
  const { messages: { form: { events: texts } }, text } = useFormat()
  const id = useId()
  // The types chosen at first stay in the list when they are taken away.
  const [before] = useState(chosen)
  const [search, setSearch] = useState('')
  const options = optionsOf(catalogue.value ?? [], before)
  const groups = groupOptions(options, search)
  // Its error belongs to choices that the search may hide.
  useEffect(() => { if (error !== null) setSearch('') }, [error])

  return (
    <fieldset class='picker' aria-describedby={`${id}-hint`}>
      <legend>{texts.label}</legend>
      <p class='hint' id={`${id}-hint`}>{texts.hint}</p>
      {catalogue.failure !== null && <Problem failure={catalogue.failure} onRetry={catalogue.reload} isBusy={catalogue.isLoading} />}
      {catalogue.value === null && catalogue.failure === null && <Skeleton />}
      {catalogue.value !== null && (
        <>
          <div class='picker-head'>
            <Search search={search} found={groups.reduce((count, group) => count + group.options.length, 0)} onSearch={setSearch} />
            <p class='picker-count' role='status'>{text(texts.chosen, { count: chosen.length, total: options.length })}</p>
          </div>
          {error !== null && <p class='field-error' id={`${id}-error`}><Icon name='bad' /> <span>{error}</span></p>}
          {groups.length === 0
            ? <p class='picker-nothing'>{texts.nothing}</p>
            : (
              <div class='groups'>
                {groups.map((group) => (
                  <EventGroupChoice key={group.name} group={group} chosen={chosen} errorId={error === null ? undefined : `${id}-error`} onChange={onChange} />
                ))}
              </div>
              )}
        </>
      )}
    </fieldset>
  )
}

function Search ({ search, found, onSearch }: { search: string, found: number, onSearch: (search: string) => void }) {
  const { announce, format: { messages: { form: { events: texts } }, plural } } = usePortal()
  const onInput = ({ currentTarget }: { currentTarget: HTMLInputElement }) => onSearch(currentTarget.value)
  useEffect(() => { if (search !== '') announce(plural(texts.found, found)) }, [search, found])
  // Enter would send the form.
  const onKeyDown = (event: KeyboardEvent) => { if (event.key === 'Enter') event.preventDefault() }
  return <input type='search' class='search' aria-label={texts.search} placeholder={texts.search} value={search} onInput={onInput} onKeyDown={onKeyDown} />
}

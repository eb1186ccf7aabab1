import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { EventFilters, EventType, FilterValue } from './api.js'
import {
  type DataFields, type EventGroup, type EventOption, type FilterDraft, type HeaderDraft, choose, groupOptions,
  groupValues, maxFilters, maxHeaders, optionsOf
} from './draft.js'
import { type Query, usePortal, useSettledQuery } from './hooks.js'
import { Button, CodeBlock, Icon } from './parts/controls.js'
import { Loaded } from './parts/feedback.js'
import { FieldError, PairFields } from './parts/fields.js'

interface EventPickerProps {
  catalogue: Query<EventType[]>
  chosen: readonly string[]
  error: string | null
  onChange: (chosen: readonly string[]) => void
}

/** Chooses event types: by group, with a search. */
export function EventPicker ({ catalogue, chosen, error, onChange }: EventPickerProps) {
  const { messages: { form: { events: texts } }, text, locale } = usePortal()
  const id = useId()
  // The types chosen at first stay in the list after they are deselected.
  const [before] = useState(chosen)
  const [search, setSearch] = useState('')
  const options = optionsOf(catalogue.value ?? [], before, locale)
  const groups = groupOptions(options, search)
  // Its error belongs to choices that the search may hide.
  useEffect(() => { if (error !== null) setSearch('') }, [error])

  return (
    <fieldset class='picker' aria-describedby={`${id}-hint`}>
      <legend>{texts.label}</legend>
      <p class='hint' id={`${id}-hint`}>{texts.hint}</p>
      <Loaded query={catalogue} lines={3}>
        {() => (
          <>
            <div class='picker-head'>
              <Search
                search={search}
                found={groups.reduce((count, group) => count + group.options.length, 0)}
                onSearch={setSearch}
              />
              <p class='picker-count' role='status'>
                {text(texts.chosen, { count: chosen.length, total: options.length })}
              </p>
            </div>
            <FieldError id={`${id}-error`} error={error} />
            {groups.length === 0
              ? <p class='picker-nothing'>{texts.nothing}</p>
              : (
                <div class='groups'>
                  {groups.map((group) => (
                    <EventGroupChoice
                      key={group.name}
                      group={group}
                      chosen={chosen}
                      errorId={error === null ? undefined : `${id}-error`}
                      onChange={onChange}
                    />
                  ))}
                </div>
                )}
          </>
        )}
      </Loaded>
    </fieldset>
  )
}

function Search ({ search, found, onSearch }: { search: string, found: number, onSearch: (search: string) => void }) {
  const { announce, messages: { form: { events: texts } }, plural } = usePortal()
  const onInput = ({ currentTarget }: { currentTarget: HTMLInputElement }) => onSearch(currentTarget.value)
  useEffect(() => { if (search !== '') announce(plural(texts.found, found)) }, [search, found])
  // Enter would send the form.
  const onKeyDown = (event: KeyboardEvent) => { if (event.key === 'Enter') event.preventDefault() }
  return (
    <input
      type='search'
      class='search'
      aria-label={texts.search}
      placeholder={texts.search}
      value={search}
      onInput={onInput}
      onKeyDown={onKeyDown}
    />
  )
}

interface EventGroupChoiceProps {
  group: EventGroup
  chosen: readonly string[]
  errorId: string | undefined
  onChange: (chosen: readonly string[]) => void
}

/** A group of event types, with a box for all of them that the search shows. */
function EventGroupChoice ({ group: { name, options }, chosen, errorId, onChange }: EventGroupChoiceProps) {
  const { messages: { form: { events: texts } }, text, number } = usePortal()
  const names = options.map((option) => option.name)
  const count = names.filter((option) => chosen.includes(option)).length
  const box = useRef<HTMLInputElement>(null)
  const isAll = count === names.length
  useEffect(() => { if (box.current !== null) box.current.indeterminate = count > 0 && !isAll }, [count, isAll])
  return (
    <div class='group' role='group' aria-label={name}>
      <label class='group-head'>
        <input
          ref={box}
          type='checkbox'
          checked={isAll}
          aria-label={text(texts.all, { group: name })}
          aria-invalid={errorId !== undefined}
          aria-describedby={errorId}
          onChange={() => onChange(choose(chosen, names, !isAll))}
        />
        <span class='group-name'>{name}</span>
        <span class='muted'>
          {number(count)} / {number(names.length)}
        </span>
      </label>
      <ul>
        {options.map((option) => (
          <EventChoice
            key={option.name}
            option={option}
            isChosen={chosen.includes(option.name)}
            errorId={errorId}
            onChange={(isChosen) => onChange(choose(chosen, [option.name], isChosen))}
          />
        ))}
      </ul>
    </div>
  )
}

interface EventChoiceProps {
  option: EventOption
  isChosen: boolean
  errorId: string | undefined
  onChange: (isChosen: boolean) => void
}

/** One event type, with an example of its data on demand. */
function EventChoice ({ option, isChosen, errorId, onChange }: EventChoiceProps) {
  const { messages: { form: { events: texts } }, text, date } = usePortal()
  const { name, description, example, deprecated, isOffered } = option
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  return (
    <li class='event'>
      <input
        type='checkbox'
        id={id}
        checked={isChosen}
        aria-invalid={errorId !== undefined}
        aria-describedby={[`${id}-about`, errorId].join(' ')}
        onChange={() => onChange(!isChosen)}
      />
      <label for={id}><code>{name}</code></label>
      {example !== null && (
        <button
          type='button'
          class='button button-quiet small'
          aria-expanded={isOpen}
          aria-label={text(texts.exampleOf, { name })}
          onClick={() => setOpen(!isOpen)}
        >
          {texts.example}
        </button>
      )}
      <p class='muted' id={`${id}-about`}>{isOffered ? description : texts.gone}</p>
      {deprecated !== undefined && (
        <p class='event-deprecated'>
          <Icon name='waiting' />{' '}
          <span>
            {deprecated.sunset === null
              ? text(texts.deprecated, { since: date(deprecated.since) })
              : text(texts.deprecatedUntil, { sunset: date(deprecated.sunset) })}
          </span>{' '}
          {deprecated.link !== null && (
            <a href={deprecated.link} target='_blank' rel='noreferrer'>{texts.deprecatedLink}</a>
          )}
        </p>
      )}
      {isOpen && <CodeBlock code={JSON.stringify(example, null, 2)} label={text(texts.exampleOf, { name })} />}
    </li>
  )
}

/** Long enough for a user who is still typing. */
const settleMs = 600

interface FilterFieldsProps {
  filters: readonly FilterDraft[]
  /** The fields to choose from. */
  fields: DataFields
  valuesOf: (filter: FilterDraft) => readonly FilterValue[]
  /** The filter to count events for; `null` while it is incomplete. */
  preview: { event_types: string[], filters: EventFilters } | null
  error: string | null
  onChange: (filters: readonly FilterDraft[]) => void
}

/** The filters of the webhook, with the number of recent events that match. */
export function FilterFields ({ filters, fields, valuesOf, preview, error, onChange }: FilterFieldsProps) {
  const { api, can, messages: { form: { filters: texts } }, text, plural } = usePortal()
  const listId = useId()
  // A failure says nothing.
  const { value: found } = useSettledQuery(preview && JSON.stringify(preview), settleMs, (body, signal) => {
    return api.webhooks.preview(JSON.parse(body), signal)
  })
  if (!can('bodies')) return null
  const describe = (filter: FilterDraft) =>
    groupValues(valuesOf(filter)).map(({ type, values }) => text(texts.types[type], { values })).join(' · ')
  return (
    <PairFields
      texts={texts}
      pairs={filters}
      blank={{ path: '', values: '' }}
      most={maxFilters}
      error={error}
      inputs={[
        { field: 'path', label: texts.fieldOf, placeholder: 'data.job_id', dir: 'ltr', list: listId },
        { field: 'values', label: texts.valuesOf, placeholder: texts.values, dir: 'auto', autoComplete: 'off' }
      ]}
      describe={describe}
      onChange={onChange}
      footer={filters.length > 0 && (
        <p role='status'>
          {found !== null &&
            (found.events === 0 ? texts.noEvents : plural(texts.matches, found.events, { matching: found.matching }))}
        </p>
      )}
    >
      <datalist id={listId}>{[...fields.keys()].map((path) => <option key={path} value={path} />)}</datalist>
    </PairFields>
  )
}

interface HeaderFieldsProps {
  headers: readonly HeaderDraft[] | null
  names: readonly string[]
  error: string | null
  onChange: (headers: readonly HeaderDraft[]) => void
}

/** The headers of the webhook's own. Nobody sees the values of those that it has, so they are changed all together. */
export function HeaderFields ({ headers, names, error, onChange }: HeaderFieldsProps) {
  const { messages: { form: { headers: texts } }, text, list } = usePortal()
  const shared = { dir: 'ltr', autoComplete: 'off' } as const
  return (
    <PairFields
      texts={texts}
      pairs={headers}
      blank={{ name: '', value: '' }}
      most={maxHeaders}
      error={error}
      inputs={[
        { ...shared, field: 'name', label: texts.nameOf, placeholder: 'X-Api-Key', maxLength: 64 },
        { ...shared, field: 'value', label: texts.valueOf, placeholder: texts.value, maxLength: 1024 }
      ]}
      onChange={onChange}
    >
      {headers === null && (
        <>
          <p>{text(texts.kept, { names: list(names) })}</p>
          <Button onClick={() => onChange(names.map((name) => ({ name, value: '' })))}>{texts.replace}</Button>
        </>
      )}
    </PairFields>
  )
}

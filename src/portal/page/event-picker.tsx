import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { EventType } from './api.js'
import { type EventGroup, type EventOption, choose, groupOptions, optionsOf } from './draft.js'
import { type Query, useFormat, usePortal } from './hooks.js'
import { CodeBlock, Icon } from './parts/controls.js'
import { Problem, Skeleton } from './parts/feedback.js'

interface EventPickerProps {
  catalogue: Query<EventType[]>
  chosen: readonly string[]
  error: string | null
  onChange: (chosen: readonly string[]) => void
}

/** Chooses event types: by group, with a search. */
export function EventPicker ({ catalogue, chosen, error, onChange }: EventPickerProps) {
  const { messages: { form: { events: texts } }, text, locale } = useFormat()
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
      <p class='hint' id={`${id}-hint`}>
        {texts.hint}
      </p>
      {catalogue.failure !== null && (
        <Problem failure={catalogue.failure} onRetry={catalogue.reload} isBusy={catalogue.isLoading} />
      )}
      {catalogue.value === null && catalogue.failure === null && <Skeleton />}
      {catalogue.value !== null && (
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
          {error !== null && (
            <p class='field-error' id={`${id}-error`}>
              <Icon name='bad' /> <span>{error}</span>
            </p>
          )}
          {groups.length === 0
            ? (
              <p class='picker-nothing'>{texts.nothing}</p>
              )
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
    </fieldset>
  )
}

function Search ({ search, found, onSearch }: { search: string, found: number, onSearch: (search: string) => void }) {
  const { announce, format: { messages: { form: { events: texts } }, plural } } = usePortal()
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
  const { messages: { form: { events: texts } }, text, number } = useFormat()
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
function EventChoice ({
  option: { name, description, example, deprecated, isOffered },
  isChosen,
  errorId,
  onChange
}: EventChoiceProps) {
  const {
    messages: {
      form: { events: texts }
    },
    text,
    date
  } = useFormat()
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
      <label for={id}>
        <code>{name}</code>
      </label>
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
      <p class='muted' id={`${id}-about`}>
        {isOffered ? description : texts.gone}
      </p>
      {deprecated !== undefined && (
        <p class='event-deprecated'>
          <Icon name='waiting' />{' '}
          <span>
            {deprecated.sunset === null
              ? text(texts.deprecated, { since: date(deprecated.since) })
              : text(texts.deprecatedUntil, { sunset: date(deprecated.sunset) })}
          </span>{' '}
          {deprecated.link !== null && (
            <a href={deprecated.link} target='_blank' rel='noreferrer'>
              {texts.deprecatedLink}
            </a>
          )}
        </p>
      )}
      {isOpen && <CodeBlock code={JSON.stringify(example, null, 2)} label={text(texts.exampleOf, { name })} />}
    </li>
  )
}

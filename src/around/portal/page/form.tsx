import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import {
  type EventFilters, type EventType, type Failure, type FilterValue, type Result, type Webhook,
  type WebhookWithSecret, readAll
} from './api.js'
import {
  type DataFields, type Draft, type EventGroup, type EventOption, type FilterDraft, type HeaderDraft, bodyOf, changesOf,
  checkDraft, choose, draftOf, fieldsOf, filtersOf, groupOptions, groupValues, isChanged, maxFilters,
  maxHeaders, optionsOf, readRejection, valuesOf
} from './draft.js'
import { type Query, useAction, usePortal, useQuery, useSettledQuery } from './hooks.js'
import { Button, CodeBlock, Icon, Link } from './parts/controls.js'
import { Loaded, Notice, Problem, SourceIps } from './parts/feedback.js'
import { FieldError, PairFields, TextField, useForm } from './parts/fields.js'
import { LeaveGuard, Screen } from './parts/frames.js'
import { WebhookSecret } from './secret.js'
import type { Route } from './session.js'

/** Creates a webhook, then shows its secret once. */
export function CreateScreen () {
  const { api, leave, messages: { shell, form } } = usePortal()
  const [created, setCreated] = useState<WebhookWithSecret | null>(null)
  if (created !== null) {
    return <WebhookSecret webhook={created} onStored={() => leave({ screen: 'endpoint', id: created.id })} />
  }
  return (
    <Screen
      title={form.create.title} intro={form.create.intro} back={{ to: { screen: 'endpoints' }, label: shell.title }}
    >
      <WebhookForm
        webhook={null} submitLabel={form.create.submit}
        save={(draft, filters) => api.webhooks.create({ ...bodyOf(draft, filters), status: 'active' })}
        onSaved={setCreated}
      />
    </Screen>
  )
}

export function EditScreen ({ id }: { id: number }) {
  const { api, leave, announce, messages: { form }, text } = usePortal()
  const query = useQuery((signal) => api.webhooks.find(id, signal), [id])
  const save = async (draft: Draft, webhook: Webhook, filters: EventFilters | null) => {
    const changes = changesOf(draft, webhook, filters)
    return Object.keys(changes).length === 0 ? { value: null, failure: null } : await api.webhooks.update(id, changes)
  }
  return (
    <Screen title={form.edit.title} back={{ to: { screen: 'endpoint', id }, label: query.value?.name ?? '…' }}>
      <Loaded query={query}>
        {(webhook) => (
          <WebhookForm<Webhook | null>
            webhook={webhook}
            submitLabel={form.edit.submit}
            save={(draft, filters) => save(draft, webhook, filters)}
            onSaved={(_value, { name }) => {
              announce(text(form.edit.saved, { name: name.trim() }))
              leave({ screen: 'endpoint', id })
            }}
          />
        )}
      </Loaded>
    </Screen>
  )
}

interface WebhookFormProps<Value> {
  /** `null` for a new one. */
  webhook: Webhook | null
  submitLabel: string
  save: (draft: Draft, filters: EventFilters | null) => Promise<Result<Value>>
  onSaved: (value: Value, draft: Draft) => void
}

/** The fields of a webhook. They keep their values after any failure. */
function WebhookForm<Value> ({ webhook, submitLabel, save, onSaved }: WebhookFormProps<Value>) {
  const { api, can, sourceIps, messages: { form: texts, shell } } = usePortal()
  const above: Route = webhook === null ? { screen: 'endpoints' } : { screen: 'endpoint', id: webhook.id }
  const initial = draftOf(webhook)
  const filtersBefore = webhook?.filters ?? null
  // A new URL would receive the bodies.
  const isUrlOpen = webhook === null || can('bodies')
  const [draft, setDraft] = useState(initial)
  const [rejected, setRejected] = useState(draft)
  const saving = useAction(save, (value) => onSaved(value, draft))
  const catalogue = useQuery((signal) => readAll(api.listEventTypes, signal), [])

  const offered = catalogue.value && new Set(catalogue.value.map(({ name }) => name))
  const found = checkDraft(draft, offered, initial.event_types)
  const { event_types: eventTypes } = draft
  const fields = useMemo(
    () => fieldsOf((catalogue.value ?? []).filter(({ name }) => eventTypes.includes(name))),
    [catalogue.value, eventTypes]
  )
  const filters = filtersOf(draft.filters, fields, filtersBefore)
  const isCounted = can('bodies') && found.filters === undefined && found.event_types === undefined
  const rejection = readRejection(saving.failure, rejected, (fault) => texts.faults[fault])
  const { isChecked, form } = useForm(Object.values(found).some((fault) => fault !== undefined), () => {
    setRejected(draft)
    return saving.run(draft, filters)
  })
  /** Shows an error from the API until the value changes. */
  const errorOf = (field: keyof Draft) => {
    const fault = found[field]
    if (isChecked && fault !== undefined) return texts.faults[fault]
    return draft[field] === rejected[field] ? rejection[field] ?? null : null
  }
  const change = (changes: Partial<Draft>) => setDraft((previous) => ({ ...previous, ...changes }))

  return (
    <form {...form}>
      <TextField
        label={texts.name.label} hint={texts.name.hint} error={errorOf('name')} name='name' required maxLength={255}
        dir='auto' placeholder={texts.name.example} value={draft.name} onValue={(name) => change({ name })}
      />
      <TextField
        label={texts.url.label} hint={isUrlOpen ? texts.url.hint : texts.url.closed} error={errorOf('target_url')}
        type='url' name='target_url' spellcheck={false} required maxLength={2048} dir='ltr'
        placeholder='https://hooks.example.com/recruiting' readOnly={!isUrlOpen}
        value={draft.target_url} onValue={(url) => change({ target_url: url })}
      />
      {webhook === null && sourceIps.length > 0 && <dl class='facts'><SourceIps /></dl>}
      <EventPicker
        catalogue={catalogue} chosen={eventTypes} error={errorOf('event_types')}
        onChange={(types) => change({ event_types: types })}
      />
      <FilterFields
        filters={draft.filters} fields={fields} valuesOf={(filter) => valuesOf(filter, fields, filtersBefore)}
        error={errorOf('filters')}
        preview={isCounted && filters !== null ? { event_types: [...eventTypes], filters } : null}
        onChange={(filters) => change({ filters })}
      />
      <TextField
        label={texts.changed.label} hint={texts.changed.hint} error={errorOf('changed')} name='changed'
        spellcheck={false} dir='ltr' placeholder='stage_id' value={draft.changed}
        onValue={(changed) => change({ changed })}
      />
      <TextField
        label={texts.contact.label} hint={texts.contact.hint} error={errorOf('contact')} type='email' name='contact'
        spellcheck={false} maxLength={254} dir='ltr' placeholder='ops@example.com' value={draft.contact}
        onValue={(contact) => change({ contact })}
      />
      <HeaderFields
        headers={draft.headers} names={Object.keys(webhook?.headers ?? {})} error={errorOf('headers')}
        onChange={(headers) => change({ headers })}
      />
      {saving.failure !== null && (
        <FormProblem failure={saving.failure} isExplained={Object.values(rejection).some((text) => text !== null)} />
      )}
      <div class='actions'>
        <Button kind='primary' type='submit' isBusy={saving.isBusy}>{submitLabel}</Button>
        <Link to={above} look='button button-quiet'>{shell.cancel}</Link>
      </div>
      <LeaveGuard isActive={isChanged(draft, initial)} texts={texts.leave} />
    </form>
  )
}

/** Explains why a webhook was not saved, unless its fields do. Some vendors send no details. */
function FormProblem ({ failure, isExplained }: { failure: Failure, isExplained: boolean }) {
  const { messages: { form: { refused } } } = usePortal()
  if (isExplained) return null
  if (failure.code !== 'bad_request' || failure.details.length > 0) return <Problem failure={failure} />
  return <Notice tone='bad' {...refused} isUrgent />
}

interface EventPickerProps {
  catalogue: Query<EventType[]>
  chosen: readonly string[]
  error: string | null
  onChange: (chosen: readonly string[]) => void
}

/** The event types to choose from, by group, with a search. */
function EventPicker ({ catalogue, chosen, error, onChange }: EventPickerProps) {
  const { messages: { form: { events: texts } }, text, locale } = usePortal()
  const id = useId()
  // Initially chosen types stay in the list after they are deselected.
  const [before] = useState(chosen)
  const [search, setSearch] = useState('')
  const options = optionsOf(catalogue.value ?? [], before, locale)
  const groups = groupOptions(options, search)
  // The search can hide the choices with the error.
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
                search={search} found={groups.reduce((count, group) => count + group.options.length, 0)}
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
                      key={group.name} group={group} chosen={chosen}
                      errorId={error === null ? undefined : `${id}-error`} onChange={onChange}
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
  // Enter would submit the form.
  const onKeyDown = (event: KeyboardEvent) => { if (event.key === 'Enter') event.preventDefault() }
  return (
    <input
      type='search' class='search' aria-label={texts.search} placeholder={texts.search} value={search}
      onInput={onInput} onKeyDown={onKeyDown}
    />
  )
}

interface EventGroupChoiceProps {
  group: EventGroup
  chosen: readonly string[]
  errorId: string | undefined
  onChange: (chosen: readonly string[]) => void
}

/** A group of event types, with a checkbox for all visible ones. */
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
          ref={box} type='checkbox' checked={isAll} aria-label={text(texts.all, { group: name })}
          aria-invalid={errorId !== undefined} aria-describedby={errorId}
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
            key={option.name} option={option} isChosen={chosen.includes(option.name)} errorId={errorId}
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
        type='checkbox' id={id} checked={isChosen} aria-invalid={errorId !== undefined}
        aria-describedby={[`${id}-about`, errorId].join(' ')} onChange={() => onChange(!isChosen)}
      />
      <label for={id}><code>{name}</code></label>
      {example !== null && (
        <button
          type='button' class='button button-quiet small' aria-expanded={isOpen}
          aria-label={text(texts.exampleOf, { name })} onClick={() => setOpen(!isOpen)}
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

/** The wait until the user has stopped typing. */
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

/** The webhook's filters, with the number of recent events that match. */
function FilterFields ({ filters, fields, valuesOf, preview, error, onChange }: FilterFieldsProps) {
  const { api, can, messages: { form: { filters: texts } }, text, plural } = usePortal()
  const listId = useId()
  // A failed preview shows nothing.
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

/** The webhook's custom headers. The API never returns their values, so they can only be replaced all at once. */
function HeaderFields ({ headers, names, error, onChange }: HeaderFieldsProps) {
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

import { useLayoutEffect, useMemo, useState } from 'preact/hooks'
import {
  type WebhookWithSecret, type EventFilters, type Failure, type Result, type Webhook, allEventTypes
} from './api.js'
import {
  type Draft, changesOf, checkDraft, draftOf, fieldsOf, filtersOf, headersOf, isChanged, readRefusal, valuesOf
} from './draft.js'
import { EventPicker, FilterFields, HeaderFields } from './form-fields.js'
import { useAction, usePortal, useQuery } from './hooks.js'
import { Button, Link } from './parts/controls.js'
import { LeaveGuard } from './parts/dialogs.js'
import { Loaded, Notice, Problem, SourceIps } from './parts/feedback.js'
import { TextField, useForm } from './parts/fields.js'
import type { Route } from './session.js'
import { WebhookSecret } from './secret.js'
import { Screen } from './shell.js'

/** Creates a webhook, then shows its secret once. */
export function CreateScreen () {
  const { api, leave, messages: { shell, form } } = usePortal()
  const [created, setCreated] = useState<WebhookWithSecret | null>(null)
  if (created !== null) {
    return <WebhookSecret webhook={created} onStored={() => leave({ screen: 'endpoint', id: created.id })} />
  }
  return (
    <Screen
      title={form.create.title}
      intro={form.create.intro}
      back={{ to: { screen: 'endpoints' }, label: shell.title }}
    >
      <WebhookForm
        webhook={null}
        submitLabel={form.create.submit}
        save={({ name, targetUrl, eventTypes, headers }, filters) =>
          api.webhooks.create({
            name: name.trim(),
            target_url: targetUrl.trim(),
            event_types: [...eventTypes],
            status: 'active',
            headers: headersOf(headers ?? []),
            filters
          })}
        onSaved={setCreated}
      />
    </Screen>
  )
}

/** Changes the name, the address and the events of a webhook. */
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
  const { api, can, drafts, sourceIps, title, messages: { form: texts, shell } } = usePortal()
  const formId = String(webhook?.id ?? 'new')
  const above: Route = webhook === null ? { screen: 'endpoints' } : { screen: 'endpoint', id: webhook.id }
  const initial = draftOf(webhook)
  const filtersBefore = webhook?.filters ?? null
  // The endpoint receives the bodies.
  const isUrlOpen = webhook === null || can('bodies')
  const [restored, setRestored] = useState(() => drafts.find(formId, initial))
  const [draft, setDraft] = useState(restored ?? initial)
  const [refused, setRefused] = useState(draft)
  const saving = useAction(save, (value) => {
    drafts.drop(formId)
    onSaved(value, draft)
  })
  const catalogue = useQuery((signal) => allEventTypes(api.listEventTypes, signal), [])

  const offered = catalogue.value && new Set(catalogue.value.map(({ name }) => name))
  const found = checkDraft(draft, offered, initial.eventTypes)
  const { eventTypes } = draft
  const fields = useMemo(
    () => fieldsOf((catalogue.value ?? []).filter(({ name }) => eventTypes.includes(name))),
    [catalogue.value, eventTypes]
  )
  const filters = filtersOf(draft.filters, fields, filtersBefore)
  const isCounted = can('bodies') && found.filters === undefined && found.eventTypes === undefined
  const refusal = readRefusal(saving.failure, refused, (fault) => texts.faults[fault])
  const { isChecked, form } = useForm(Object.values(found).some((fault) => fault !== undefined), () => {
    setRefused(draft)
    return saving.run(draft, filters)
  })
  /** An error of the API is shown until the value changes. */
  const errorOf = (field: keyof Draft) => {
    const fault = found[field]
    if (isChecked && fault !== undefined) return texts.faults[fault]
    return draft[field] === refused[field] ? refusal[field] ?? null : null
  }
  const change = (changes: Partial<Draft>) => setDraft((previous) => ({ ...previous, ...changes }))

  const isDirty = isChanged(draft, initial)
  useLayoutEffect(() => {
    if (isDirty) drafts.keep(formId, draft)
    else drafts.drop(formId)
  }, [draft])
  const discard = () => {
    setDraft(initial)
    setRestored(null)
    title.current?.focus()
  }

  return (
    <form {...form}>
      {restored !== null && isDirty && (
        <Notice tone='waiting' title={texts.restored.title}>
          <Button onClick={discard}>{texts.restored.discard}</Button>
        </Notice>
      )}
      <TextField
        label={texts.name.label} hint={texts.name.hint} error={errorOf('name')}
        name='name' required maxLength={255} dir='auto' placeholder={texts.name.example}
        value={draft.name} onValue={(name) => change({ name })}
      />
      <TextField
        label={texts.url.label} hint={isUrlOpen ? texts.url.hint : texts.url.closed} error={errorOf('targetUrl')}
        type='url' name='target_url' spellcheck={false} required maxLength={2048} dir='ltr'
        placeholder='https://hooks.example.com/recruiting' readOnly={!isUrlOpen}
        value={draft.targetUrl} onValue={(targetUrl) => change({ targetUrl })}
      />
      {webhook === null && sourceIps.length > 0 && <dl class='facts'><SourceIps /></dl>}
      <EventPicker
        catalogue={catalogue}
        chosen={eventTypes}
        error={errorOf('eventTypes')}
        onChange={(eventTypes) => change({ eventTypes })}
      />
      <FilterFields
        filters={draft.filters}
        fields={fields}
        valuesOf={(filter) => valuesOf(filter, fields, filtersBefore)}
        error={errorOf('filters')}
        preview={isCounted && filters !== null ? { event_types: [...eventTypes], filters } : null}
        onChange={(filters) => change({ filters })}
      />
      <HeaderFields
        headers={draft.headers}
        names={Object.keys(webhook?.headers ?? {})}
        error={errorOf('headers')}
        onChange={(headers) => change({ headers })}
      />
      {saving.failure !== null && (
        <FormProblem failure={saving.failure} isExplained={Object.values(refusal).some((text) => text !== null)} />
      )}
      <div class='actions'>
        <Button kind='primary' type='submit' isBusy={saving.isBusy}>{submitLabel}</Button>
        <Link to={above} look='button button-quiet'>{shell.cancel}</Link>
      </div>
      <LeaveGuard isActive={isDirty} texts={texts.leave} onLeave={() => drafts.drop(formId)} />
    </form>
  )
}

/** Why a webhook was not saved, unless its fields show it. Some vendors send no details. */
function FormProblem ({ failure, isExplained }: { failure: Failure, isExplained: boolean }) {
  const { messages: { form: { refused } } } = usePortal()
  if (isExplained) return null
  if (failure.code !== 'bad_request' || failure.details.length > 0) return <Problem failure={failure} />
  return <Notice tone='bad' {...refused} isUrgent />
}

import { useRef, useState } from 'preact/hooks'
import { allEventTypes } from '../../api/all-event-types.js'
import type { Result } from '../../api/failure.js'
import { Button } from '../../parts/button.js'
import { Field, focusFirstError } from '../../parts/field.js'
import { LeaveGuard } from '../../parts/leave-guard.js'
import { Link } from '../../parts/link.js'
import type { Route } from '../../route/route.js'
import { useFormat, usePortal } from '../../state/portal.js'
import { useAction } from '../../state/use-action.js'
import { useQuery } from '../../state/use-query.js'
import { type Draft, checkDraft, isChanged, readRefusal } from './draft.js'
import { EventPicker } from './event-picker.js'
import { FormProblem } from './form-problem.js'

interface WebhookFormProps<Value> {
  initial: Draft
  submitLabel: string
  save: (draft: Draft) => Promise<Result<Value>>
  onSaved: (value: Value, draft: Draft) => void
  cancelTo: Route
}

/** The fields of a webhook. Whatever fails, they keep what was entered. */
export function WebhookForm<Value> ({ initial, submitLabel, save, onSaved, cancelTo }: WebhookFormProps<Value>) {
  const { api } = usePortal()
  const { messages: { form: texts, shell } } = useFormat()
  const [draft, setDraft] = useState(initial)
  const [isChecked, setChecked] = useState(false)
  const [refused, setRefused] = useState(draft)
  const saving = useAction(save)
  const catalogue = useQuery((signal) => allEventTypes(api, signal), [])
  const form = useRef<HTMLFormElement>(null)

  const faults = isChecked ? checkDraft(draft, catalogue.value && new Set(catalogue.value.map(({ name }) => name))) : {}
  const refusal = readRefusal(saving.failure, refused, (fault) => texts.faults[fault])
  /** An error of the API is shown until the value changes. */
  const errorOf = (field: keyof Draft) => {
    const fault = faults[field]
    if (fault !== undefined) return texts.faults[fault]
    return draft[field] === refused[field] ? refusal[field] : null
  }
  const change = (changes: Partial<Draft>) => setDraft((previous) => ({ ...previous, ...changes }))

  const submit = async (event: Event) => {
    event.preventDefault()
    setChecked(true)
    const found = checkDraft(draft, catalogue.value && new Set(catalogue.value.map(({ name }) => name)))
    if (Object.values(found).some((fault) => fault !== undefined)) return focusFirstError(form.current)
    setRefused(draft)
    const result = await saving.run(draft)
    if (result?.failure === null) onSaved(result.value, draft)
    else focusFirstError(form.current)
  }

  return (
    <form ref={form} class='form' noValidate onSubmit={submit}>
      <Field label={texts.name.label} hint={texts.name.hint} error={errorOf('name')}>
        {(control) => (
          <input
            {...control} type='text' name='name' autoComplete='off' required maxLength={255} dir='auto' placeholder={texts.name.example} value={draft.name}
            onInput={({ currentTarget }) => change({ name: currentTarget.value })}
          />
        )}
      </Field>
      <Field label={texts.url.label} hint={texts.url.hint} error={errorOf('targetUrl')}>
        {(control) => (
          <input
            {...control} type='url' name='target_url' autoComplete='off' spellcheck={false} required maxLength={2048} dir='ltr' placeholder='https://hooks.example.com/recruiting'
            value={draft.targetUrl} onInput={({ currentTarget }) => change({ targetUrl: currentTarget.value })}
          />
        )}
      </Field>
      <EventPicker catalogue={catalogue} chosen={draft.eventTypes} error={errorOf('eventTypes')} onChange={(eventTypes) => change({ eventTypes })} />
      {saving.failure !== null && <FormProblem failure={saving.failure} isExplained={Object.values(refusal).some((text) => text !== null)} />}
      <div class='actions'>
        <Button kind='primary' type='submit' isBusy={saving.isBusy}>{submitLabel}</Button>
        <Link to={cancelTo} look='button button-quiet'>{shell.cancel}</Link>
      </div>
      <LeaveGuard isActive={isChanged(draft, initial)} texts={texts.leave} />
    </form>
  )
}

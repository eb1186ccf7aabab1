import { useState } from 'preact/hooks'
import type { RotatedWebhook, TestResult, Webhook } from './api.js'
import { useAction, useFormat, usePortal } from './hooks.js'
import { Button, Field } from './parts/controls.js'
import { AskDialog, ConfirmByName, Dialog } from './parts/dialogs.js'
import { Notice, Problem, Progress } from './parts/feedback.js'
import { knownError, statusHint } from './words.js'

/** Sends a test notification, and shows the result. */
export function TestDialog ({
  webhook: { id, event_types: eventTypes },
  onClose
}: {
  webhook: Webhook
  onClose: () => void
}) {
  const { api } = usePortal()
  const { messages: { shell, test: texts } } = useFormat()
  const [eventType, setEventType] = useState(eventTypes[0] ?? '')
  const [result, setResult] = useState<TestResult | null>(null)
  const sending = useAction(() => api.dispatchTest(id, { event_type: eventType }))
  const send = async () => {
    setResult(null)
    setResult((await sending.run())?.value?.data ?? null)
  }
  const actions = (
    <>
      <Button onClick={onClose}>{shell.close}</Button>
      <Button kind='primary' type='submit' isBusy={sending.isBusy}>
        {result === null ? texts.send : texts.again}
      </Button>
    </>
  )
  return (
    <Dialog title={texts.title} onClose={onClose} onSubmit={send} actions={actions}>
      <p>{texts.text}</p>
      <Field label={texts.eventType}>
        {(control) => (
          <select {...control} value={eventType} onChange={({ currentTarget }) => setEventType(currentTarget.value)}>
            {eventTypes.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
      </Field>
      {/* Always there, so that screen readers say what appears in it. */}
      <div aria-live='polite'>
        {sending.isBusy && <Progress label={texts.waiting} />}
        {result !== null && <TestOutcome result={result} />}
        {sending.failure !== null && <Problem failure={sending.failure} />}
      </div>
    </Dialog>
  )
}

/** The result of a test in words, and what to try after a failure. */
function TestOutcome ({ result: { response_status: status, duration_ms: ms, error } }: { result: TestResult }) {
  const { messages: { test: texts }, text, duration } = useFormat()
  const spent = duration(ms)
  if (error === null) {
    return <Notice tone='good' title={text(texts.delivered, { status: String(status), duration: spent })} />
  }
  if (error === 'held') {
    return (
      <Notice tone='waiting' title={texts.errors.held.title}>
        <p>{texts.errors.held.text}</p>
      </Notice>
    )
  }
  const remedy = texts.errors[knownError(error, texts.errors)]
  const hint = status === null ? null : statusHint(status)
  return (
    <Notice tone='bad' title={remedy.title}>
      <p>
        {status === null
          ? text(texts.unanswered, { duration: spent })
          : text(texts.answered, { status: String(status), duration: spent })}
      </p>
      <p>{hint === null ? remedy.text : texts.statuses[hint]}</p>
    </Notice>
  )
}

/** Explains pausing, and pauses. */
export function PauseDialog ({
  webhook,
  onChanged,
  onClose
}: {
  webhook: Webhook
  onChanged: () => void
  onClose: () => void
}) {
  const {
    messages: {
      endpoint: { actions: texts }
    },
    text
  } = useFormat()
  const pausing = useSetStatus(webhook, 'inactive', () => {
    onClose()
    onChanged()
  })
  return (
    <AskDialog
      title={text(texts.pauseTitle, { name: webhook.name })}
      label={texts.pause}
      action={pausing}
      onConfirm={pausing.run}
      onClose={onClose}
    >
      <p>{texts.pauseText}</p>
    </AskDialog>
  )
}

/** Pauses or activates a webhook, and announces it. The pressed button disappears, so the title gets the focus. */
export function useSetStatus ({ id, name }: Webhook, status: 'active' | 'inactive', onChanged: () => void) {
  const { api, announce, title } = usePortal()
  const { messages: { endpoint: { actions: texts } }, text } = useFormat()
  const action = useAction(() => api.updateWebhook(id, { status }))
  const run = async () => {
    if ((await action.run())?.failure !== null) return
    announce(text(status === 'active' ? texts.resumed : texts.paused, { name }))
    onChanged()
    requestAnimationFrame(() => title.current?.focus())
  }
  return { ...action, run }
}

const graces = [['none', 0], ['hour', 3600], ['day', 86_400], ['week', 604_800]] as const

/** Asks how long the old secret stays valid, and rotates it. */
export function RotateDialog ({
  webhook: { id },
  onRotated,
  onClose
}: {
  webhook: Webhook
  onRotated: (webhook: RotatedWebhook) => void
  onClose: () => void
}) {
  const { api } = usePortal()
  const {
    messages: {
      endpoint: { rotate: texts, actions }
    }
  } = useFormat()
  const [seconds, setSeconds] = useState<number>(86_400)
  const rotating = useAction(() => api.rotateSecret(id, seconds))
  const rotate = async () => {
    const data = (await rotating.run())?.value?.data
    if (data !== undefined) onRotated(data)
  }
  return (
    <AskDialog title={actions.rotate} label={actions.rotate} action={rotating} onConfirm={rotate} onClose={onClose}>
      <p>{texts.text}</p>
      <fieldset class='options'>
        <legend>{texts.grace}</legend>
        {graces.map(([name, value]) => (
          <label key={name}>
            <input type='radio' name='grace' checked={value === seconds} onChange={() => setSeconds(value)} />
            <span>
              {texts[name]}
              {name === 'none' && <span class='muted'>{texts.noneText}</span>}
            </span>
          </label>
        ))}
      </fieldset>
    </AskDialog>
  )
}

/** Deletes a webhook once its name is typed. */
export function DeleteDialog ({ webhook: { id, name }, onClose }: { webhook: Webhook, onClose: () => void }) {
  const { api, announce, leave } = usePortal()
  const { messages: { endpoint: { actions: texts } }, text } = useFormat()
  const deleting = useAction(() => api.deleteWebhook(id))
  const remove = async () => {
    const result = await deleting.run()
    // Someone else may have deleted it first.
    if (result?.failure !== null && result?.failure.code !== 'not_found') return
    announce(text(texts.deleted, { name }))
    leave({ screen: 'endpoints' })
  }
  return (
    <ConfirmByName
      title={text(texts.deleteTitle, { name })}
      name={name}
      label={texts.deleteAction}
      action={deleting}
      onConfirm={remove}
      onClose={onClose}
    >
      <p>{texts.deleteText}</p>
    </ConfirmByName>
  )
}

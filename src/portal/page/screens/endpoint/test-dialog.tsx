import { useState } from 'preact/hooks'
import type { TestResult, Webhook } from '../../api/types.js'
import { Button } from '../../parts/button.js'
import { Dialog } from '../../parts/dialog.js'
import { Field } from '../../parts/field.js'
import { Problem } from '../../parts/problem.js'
import { Progress } from '../../parts/progress.js'
import { useFormat, usePortal } from '../../state/portal.js'
import { useAction } from '../../state/use-action.js'
import { TestOutcome } from './test-outcome.js'

/** Sends a test notification, and shows what became of it. */
export function TestDialog ({ webhook: { id, event_types: eventTypes }, onClose }: { webhook: Webhook, onClose: () => void }) {
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
      <Button kind='primary' type='submit' isBusy={sending.isBusy}>{result === null ? texts.send : texts.again}</Button>
    </>
  )
  return (
    <Dialog title={texts.title} onClose={onClose} onSubmit={send} actions={actions}>
      <p>{texts.text}</p>
      <Field label={texts.eventType}>
        {(control) => (
          <select {...control} value={eventType} onChange={({ currentTarget }) => setEventType(currentTarget.value)}>
            {eventTypes.map((name) => <option key={name}>{name}</option>)}
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

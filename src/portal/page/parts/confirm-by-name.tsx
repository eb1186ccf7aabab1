import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Failure } from '../api/failure.js'
import { useFormat } from '../state/portal.js'
import { showControls } from '../text/show-controls.js'
import { Button } from './button.js'
import { Dialog } from './dialog.js'
import { Field } from './field.js'
import { Problem } from './problem.js'

interface ConfirmByNameProps {
  title: string
  /** What cannot be undone. */
  children: ComponentChildren
  /** To be typed. */
  name: string
  /** Of the button, for example "Delete webhook". */
  action: string
  onConfirm: () => void
  onClose: () => void
  isBusy: boolean
  failure: Failure | null
}

/** Asks for the name of something before it is gone. */
export function ConfirmByName ({ title, children, name, action, onConfirm, onClose, isBusy, failure }: ConfirmByNameProps) {
  const { messages, text } = useFormat()
  const [typed, setTyped] = useState('')
  const [error, setError] = useState<string | null>(null)
  const submit = () => {
    if ([name, showControls(name)].some((shown) => comparable(typed) === comparable(shown))) onConfirm()
    else setError(messages.shell.confirm.mismatch)
  }
  const actions = (
    <>
      <Button onClick={onClose} isDisabled={isBusy}>{messages.shell.cancel}</Button>
      <Button kind='danger' type='submit' isBusy={isBusy}>{action}</Button>
    </>
  )
  return (
    <Dialog title={title} onClose={onClose} isBusy={isBusy} onSubmit={submit} actions={actions}>
      {children}
      <Field label={text(messages.shell.confirm.type, { name })} error={error}>
        {(control) => (
          <input
            {...control} type='text' autoComplete='off' spellcheck={false} value={typed} dir='auto'
            onInput={({ currentTarget }) => { setTyped(currentTarget.value); setError(null) }}
          />
        )}
      </Field>
      {failure !== null && <Problem failure={failure} />}
    </Dialog>
  )
}

/** Names are shown with runs of spaces as one, so they are typed like that. */
function comparable (name: string): string {
  return name.normalize('NFC').replaceAll(/\s+/g, ' ').trim()
}

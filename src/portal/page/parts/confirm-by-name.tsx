import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useFormat } from '../state/portal.js'
import type { Action } from '../state/use-action.js'
import { showControls } from '../text/show-controls.js'
import { AskDialog } from './ask-dialog.js'
import { Field } from './field.js'

interface ConfirmByNameProps {
  title: string
  /** Says what cannot be undone. */
  children: ComponentChildren
  /** To be typed. */
  name: string
  /** Of the button, for example "Delete webhook". */
  label: string
  action: Pick<Action<never, unknown>, 'isBusy' | 'failure'>
  onConfirm: () => void
  onClose: () => void
}

/** Asks for the name of something before it is gone. */
export function ConfirmByName ({ name, children, onConfirm, ...rest }: ConfirmByNameProps) {
  const { messages: { shell: { confirm } }, text } = useFormat()
  const [typed, setTyped] = useState('')
  const [error, setError] = useState<string | null>(null)
  const submit = () => {
    if ([name, showControls(name)].some((shown) => comparable(typed) === comparable(shown))) onConfirm()
    else setError(confirm.mismatch)
  }
  return (
    <AskDialog {...rest} kind='danger' onConfirm={submit}>
      {children}
      <Field label={text(confirm.type, { name })} error={error}>
        {(control) => (
          <input
            {...control} type='text' autoComplete='off' spellcheck={false} value={typed} dir='auto'
            onInput={({ currentTarget }) => { setTyped(currentTarget.value); setError(null) }}
          />
        )}
      </Field>
    </AskDialog>
  )
}

/** Names are shown with runs of spaces as one, so they are typed like that. */
function comparable (name: string): string {
  return name.normalize('NFC').replaceAll(/\s+/g, ' ').trim()
}

import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type Action, useFormat, usePortal } from '../hooks.js'
import type { Route } from '../route.js'
import { showControls } from '../text.js'
import { Button, Field, Icon } from './controls.js'
import { Alerts, Problem } from './feedback.js'

interface DialogProps {
  title: string
  children: ComponentChildren
  /** Buttons, the main one last. */
  actions: ComponentChildren
  /** Also called on Escape. */
  onClose: () => void
  /** While true, the dialog cannot be closed. */
  isBusy?: boolean
  /** Makes the dialog a form. */
  onSubmit?: () => void
}

/** A modal dialog, rendered while it is open. The focus then returns to the element that opened it. */
export function Dialog ({ title, children, actions, onClose, isBusy = false, onSubmit }: DialogProps) {
  const { messages } = useFormat()
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useLayoutEffect(() => {
    const { current } = dialog
    current?.showModal()
    // Restores the focus, which the browser does not do for a dialog that is removed.
    return () => current?.close()
  }, [])
  const cancel = (event: Event) => {
    event.preventDefault()
    if (!isBusy) onClose()
  }
  const submit = (event: Event) => {
    event.preventDefault()
    if (!isBusy) onSubmit?.()
  }
  return (
    <dialog ref={dialog} class='dialog' aria-labelledby={id} onCancel={cancel}>
      <form onSubmit={submit} noValidate>
        <header>
          <h2 id={id}>{title}</h2>
          <button
            type='button'
            class='button button-quiet icon-only'
            aria-label={messages.shell.close}
            onClick={cancel}
          >
            <Icon name='close' />
          </button>
        </header>
        {/* Those of the page are behind the dialog. */}
        <div class='dialog-body'>
          <Alerts />
          {children}
        </div>
        <footer>{actions}</footer>
      </form>
    </dialog>
  )
}

interface AskDialogProps {
  title: string
  children: ComponentChildren
  /** The label of the button, for example "Rotate secret". */
  label: string
  action: Pick<Action<never, unknown>, 'isBusy' | 'failure'>
  onConfirm: () => void
  onClose: () => void
  kind?: 'primary' | 'danger'
}

/** Asks before an action, and stays open until the action is done. */
export function AskDialog ({
  title,
  children,
  label,
  action: { isBusy, failure },
  onConfirm,
  onClose,
  kind = 'primary'
}: AskDialogProps) {
  const { messages } = useFormat()
  const buttons = (
    <>
      <Button onClick={onClose} isDisabled={isBusy}>
        {messages.shell.cancel}
      </Button>
      <Button kind={kind} type='submit' isBusy={isBusy}>
        {label}
      </Button>
    </>
  )
  return (
    <Dialog title={title} onClose={onClose} isBusy={isBusy} onSubmit={onConfirm} actions={buttons}>
      {children}
      {failure !== null && <Problem failure={failure} />}
    </Dialog>
  )
}

interface ConfirmByNameProps {
  title: string
  /** Describes the irreversible effect. */
  children: ComponentChildren
  /** The name to type. */
  name: string
  /** The label of the button, for example "Delete webhook". */
  label: string
  action: Pick<Action<never, unknown>, 'isBusy' | 'failure'>
  onConfirm: () => void
  onClose: () => void
}

/** Asks the user to type a name before deleting it. */
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

/** HTML shows runs of spaces as one, so the user types one. */
function comparable (name: string): string {
  return name.normalize('NFC').replaceAll(/\s+/g, ' ').trim()
}

interface LeaveGuardProps {
  /** Whether there are unsaved changes. */
  isActive: boolean
  texts: { title: string, text: string, stay: string, leave: string }
  /** Called when the user leaves. */
  onLeave?: () => void
}

/** Asks before the user leaves a screen with unsaved changes. */
export function LeaveGuard ({ isActive, texts, onLeave }: LeaveGuardProps) {
  const { guard, leave } = usePortal()
  const [next, setNext] = useState<Route | null>(null)
  useLayoutEffect(() => {
    if (!isActive) return
    guard.current = setNext
    // Closing or reloading the page.
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => {
      guard.current = null
      removeEventListener('beforeunload', warn)
    }
  }, [isActive])

  if (next === null) return null
  const stay = () => setNext(null)
  const leaveForm = () => {
    onLeave?.()
    leave(next)
  }
  const actions = (
    <>
      <Button kind='danger' onClick={leaveForm}>{texts.leave}</Button>
      <Button kind='primary' onClick={stay}>{texts.stay}</Button>
    </>
  )
  return <Dialog title={texts.title} onClose={stay} actions={actions}><p>{texts.text}</p></Dialog>
}

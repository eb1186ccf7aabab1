import type { ComponentChildren } from 'preact'
import { useFormat } from '../state/portal.js'
import type { Action } from '../state/use-action.js'
import { Button } from './button.js'
import { Dialog } from './dialog.js'
import { Problem } from './problem.js'

interface AskDialogProps {
  title: string
  children: ComponentChildren
  /** Of the button, for example "Rotate secret". */
  label: string
  action: Pick<Action<never, unknown>, 'isBusy' | 'failure'>
  onConfirm: () => void
  onClose: () => void
  kind?: 'primary' | 'danger'
}

/** Asks before it does something, and stays open until that is done. */
export function AskDialog ({ title, children, label, action: { isBusy, failure }, onConfirm, onClose, kind = 'primary' }: AskDialogProps) {
  const { messages } = useFormat()
  const buttons = (
    <>
      <Button onClick={onClose} isDisabled={isBusy}>{messages.shell.cancel}</Button>
      <Button kind={kind} type='submit' isBusy={isBusy}>{label}</Button>
    </>
  )
  return (
    <Dialog title={title} onClose={onClose} isBusy={isBusy} onSubmit={onConfirm} actions={buttons}>
      {children}
      {failure !== null && <Problem failure={failure} />}
    </Dialog>
  )
}

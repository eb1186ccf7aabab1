import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { useFormat } from '../state/portal.js'
import { Icon } from './icon.js'

interface DialogProps {
  title: string
  children: ComponentChildren
  /** Buttons, the main one last. */
  actions: ComponentChildren
  /** By Escape, too. */
  onClose: () => void
  /** While true, it cannot be closed. */
  isBusy?: boolean
  /** Makes the dialog a form. */
  onSubmit?: () => void
}

/** A modal dialog: render it while it is open. The focus returns to what opened it. */
export function Dialog ({ title, children, actions, onClose, isBusy = false, onSubmit }: DialogProps) {
  const { messages } = useFormat()
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const { current } = dialog
    const root = current?.getRootNode()
    const focused = () => root instanceof ShadowRoot ? root.activeElement : null
    const opener = focused()
    current?.showModal()
    return () => {
      // The dialog is out of the document, so the browser returns nothing. Something else may have got the focus.
      if (focused() === null && opener instanceof HTMLElement) opener.focus()
    }
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
          <button type='button' class='button button-quiet icon-only' aria-label={messages.shell.close} onClick={cancel}><Icon name='close' /></button>
        </header>
        <div class='dialog-body'>{children}</div>
        <footer>{actions}</footer>
      </form>
    </dialog>
  )
}

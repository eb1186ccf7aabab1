import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Result } from '../api.js'
import { type PagedQuery, useAction, usePortal, useWindowEvent } from '../hooks.js'
import type { Route } from '../session.js'
import { showControls } from '../text.js'
import { Button, Icon, Link, Pager } from './controls.js'
import { Alerts, Empty, Loaded, Name, Problem } from './feedback.js'
import { TextField } from './fields.js'

interface ScreenProps {
  title: ComponentChildren
  /** Under the title. */
  intro?: ComponentChildren
  /** Buttons next to the title, the main one last. */
  actions?: ComponentChildren
  /** The screen above. */
  back?: { to: Route, label: string }
  children: ComponentChildren
}

/** The frame of a screen. Its title gets the focus when the screen is entered from another one. */
export function Screen ({ title, intro, actions, back, children }: ScreenProps) {
  const { messages, visits, title: heading } = usePortal()
  // A layout effect, so that the focus moves before the next key press.
  useLayoutEffect(() => {
    // The first screen does not move the focus.
    if (visits.current > 0) heading.current?.focus()
    visits.current += 1
  }, [])
  return (
    <>
      {back !== undefined && (
        <nav class='back' aria-label={messages.shell.back}>
          <Link to={back.to}><Icon name='back' /> <Name>{back.label}</Name></Link>
        </nav>
      )}
      <header class='screen-head'>
        <div>
          <h1 ref={heading} tabIndex={-1}>{title}</h1>
          {intro !== undefined && <p class='intro'>{intro}</p>}
        </div>
        {Boolean(actions) && <div class='actions'>{actions}</div>}
      </header>
      {children}
    </>
  )
}

/** A link to the form that adds something to a list. */
export function AddLink ({ to, children }: { to: Route, children: string }) {
  return <Link to={to} look='button button-primary'><Icon name='plus' /> <span>{children}</span></Link>
}

interface ListScreenProps<Row> {
  title: string
  intro: string
  list: PagedQuery<Row>
  empty: { title: string, text: string }
  /** A link that adds a row. */
  add?: ComponentChildren
  children: (row: Row) => ComponentChildren
}

/** A screen with a list, page by page. */
export function ListScreen<Row> ({ title, intro, list, empty, add, children }: ListScreenProps<Row>) {
  const isEmpty = list.value?.meta.total === 0
  return (
    <Screen title={title} intro={intro} actions={!isEmpty && add}>
      <Loaded query={list}>
        {({ data }) => isEmpty
          ? <Empty {...empty} action={add} />
          : (
            <>
              <ul class='rows' aria-label={title} aria-busy={list.isLoading}>{data.map(children)}</ul>
              <Pager list={list} />
            </>
            )}
      </Loaded>
    </Screen>
  )
}

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
  const { messages } = usePortal()
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useLayoutEffect(() => {
    const { current } = dialog
    current?.showModal()
    // Restores the focus, which the browser does not do when a dialog is removed.
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
            type='button' class='button button-quiet icon-only' aria-label={messages.shell.close} onClick={cancel}
          >
            <Icon name='close' />
          </button>
        </header>
        {/* The page's own alerts are behind the dialog. */}
        <div class='dialog-body'>
          <Alerts />
          {children}
        </div>
        <footer>{actions}</footer>
      </form>
    </dialog>
  )
}

interface ConfirmProps<Value> {
  title: string
  /** The label of the button, for example "Rotate secret". */
  label: string
  kind?: 'primary' | 'danger'
  /** Describes the effect. */
  children: ComponentChildren
  act: () => Promise<Result<Value>>
  /** Called after the action succeeds. */
  onDone: (value: Value) => void
  onClose: () => void
  /** A name that the user must type to confirm. */
  name?: string
}

/** Asks before an action, and stays open until the action succeeds. */
export function Confirm<Value> (
  { title, label, kind = 'primary', children, act, onDone, onClose, name }: ConfirmProps<Value>
) {
  const { messages: { shell }, text } = usePortal()
  const { run, isBusy, failure } = useAction(act, onDone)
  const [typed, setTyped] = useState('')
  const [error, setError] = useState<string | null>(null)
  const submit = () => {
    const isSame = (shown: string) => comparable(typed) === comparable(shown)
    if (name === undefined || isSame(name) || isSame(showControls(name))) run()
    else setError(shell.confirm.mismatch)
  }
  const buttons = (
    <>
      <Button onClick={onClose} isDisabled={isBusy}>{shell.cancel}</Button>
      <Button kind={kind} type='submit' isBusy={isBusy}>{label}</Button>
    </>
  )
  return (
    <Dialog title={title} onClose={onClose} isBusy={isBusy} onSubmit={submit} actions={buttons}>
      {children}
      {name !== undefined && (
        <TextField
          label={text(shell.confirm.type, { name })} error={error} value={typed} dir='auto' spellcheck={false}
          onValue={(value) => { setTyped(value); setError(null) }}
        />
      )}
      {failure !== null && <Problem failure={failure} />}
    </Dialog>
  )
}

/** HTML shows runs of spaces as one, so the user types one. */
function comparable (name: string): string {
  return name.normalize('NFC').replaceAll(/\s+/g, ' ').trim()
}

interface LeaveDialogProps {
  /** `leave`: the button that leaves, by default "Leave". */
  texts: { title: string, text: string, leave?: string }
  onStay: () => void
  onLeave: () => void
}

/** Asks before the user loses something. */
export function LeaveDialog ({ texts, onStay, onLeave }: LeaveDialogProps) {
  const { messages: { shell } } = usePortal()
  const actions = (
    <>
      <Button kind='danger' onClick={onLeave}>{texts.leave ?? shell.leave}</Button>
      <Button kind='primary' onClick={onStay}>{shell.stay}</Button>
    </>
  )
  return <Dialog title={texts.title} onClose={onStay} actions={actions}><p>{texts.text}</p></Dialog>
}

interface LeaveGuardProps extends Pick<LeaveDialogProps, 'texts'> {
  /** Whether there are unsaved changes. */
  isActive: boolean
}

/** Asks before the user leaves a screen with unsaved changes. */
export function LeaveGuard ({ isActive, texts }: LeaveGuardProps) {
  const { guard, leave } = usePortal()
  const [next, setNext] = useState<Route | null>(null)
  useLayoutEffect(() => {
    if (!isActive) return
    guard.current = setNext
    return () => { guard.current = null }
  }, [isActive])
  // Closing or reloading the page.
  useWindowEvent('beforeunload', isActive ? (event) => event.preventDefault() : null)

  if (next === null) return null
  return <LeaveDialog texts={texts} onStay={() => setNext(null)} onLeave={() => leave(next)} />
}

import type { ComponentChildren, Ref, RefObject } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useFormat, usePortal } from '../hooks.js'
import type { Route } from '../route.js'
import { showControls } from '../text.js'

const paths = {
  good: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM5 8.2l2.1 2.1L11 6.2',
  waiting: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM8 4.5V8l2.2 1.6',
  bad: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM8 4.7v3.8M8 10.9v.4',
  off: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM6.4 5.8v4.4M9.6 5.8v4.4',
  plus: 'M8 3v10M3 8h10',
  back: 'M9.5 3.5 5 8l4.5 4.5',
  forward: 'M6.5 3.5 11 8l-4.5 4.5',
  copy: 'M6 5.5h7v8H6ZM3 10.5v-8h7',
  check: 'M3.5 8.5l3 3 6-6.5',
  webhook:
    'M6.2 6.4a2.7 2.7 0 1 1 3.9.2l2 3.6M9.4 12H5.2M4.6 9.3a2.6 2.6 0 1 0 2 3.6M7.7 4.6 5.2 9.2M10.6 10.6a2.3 2.3 0 1 1-.6 2.6',
  up: 'M8 13V3M4 7l4-4 4 4',
  replay: 'M13 8a5 5 0 1 1-1.6-3.7M13.2 2v3h-3',
  close: 'm4 4 8 8M12 4l-8 8'
} as const

export type IconName = keyof typeof paths

/** A picture next to a word: screen readers skip it. */
export function Icon ({ name }: { name: IconName }) {
  const isTurned = name === 'back' || name === 'forward'
  return (
    <svg
      class={isTurned ? 'icon icon-turned' : 'icon'}
      viewBox='0 0 16 16'
      width='16'
      height='16'
      aria-hidden='true'
      focusable='false'
    >
      <path d={paths[name]} />
    </svg>
  )
}

interface ButtonProps {
  children: ComponentChildren
  onClick?: () => void
  kind?: 'primary' | 'plain' | 'danger' | 'quiet'
  type?: 'button' | 'submit'
  icon?: IconName
  /** While true, a click does nothing. The focus stays. */
  isBusy?: boolean
  isDisabled?: boolean
  label?: string
  buttonRef?: Ref<HTMLButtonElement>
}

export function Button ({
  children,
  onClick,
  kind = 'plain',
  type = 'button',
  icon,
  isBusy = false,
  isDisabled = false,
  label,
  buttonRef
}: ButtonProps) {
  const { messages } = useFormat()
  const isInert = isBusy || isDisabled
  const click = (event: Event) => {
    if (isInert) event.preventDefault()
    else onClick?.()
  }
  return (
    <button
      ref={buttonRef ?? null}
      type={type}
      class={`button button-${kind}`}
      aria-disabled={isInert}
      aria-busy={isBusy}
      aria-label={label}
      onClick={click}
    >
      {isBusy ? <span class='spinner' /> : icon !== undefined && <Icon name={icon} />}
      <span>{children}</span>
      {isBusy && <span class='unseen'>{messages.shell.working}</span>}
    </button>
  )
}

interface LinkProps {
  to: Route
  children: ComponentChildren
  look?: string
  /** Whether it leads to the place that is shown. */
  isCurrent?: boolean
}

/**
 * A link within the portal. On a page of the host, which has no address for it, it is a button with the role of a
 * link.
 */
export function Link ({ to, children, look = 'link', isCurrent = false }: LinkProps) {
  const { href, go } = usePortal()
  const address = href(to)
  const shared = { class: look, 'aria-current': isCurrent ? 'page' : undefined } as const
  if (address === null) return <button {...shared} type='button' role='link' onClick={() => go(to)}>{children}</button>
  return <a {...shared} href={address}>{children}</a>
}

/** Copies a text and confirms it. `label` names the text; `caption` is what the button shows instead of "Copy". */
export function Copy ({
  text,
  label,
  caption,
  isIconOnly = false
}: {
  text: string
  label: string
  caption?: string
  isIconOnly?: boolean
}) {
  const {
    format: { messages },
    announce
  } = usePortal()
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 2000)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = async ({ currentTarget }: { currentTarget: HTMLElement }) => {
    const isDone = await copyText(text, currentTarget)
    announce(isDone ? messages.shell.copied : messages.shell.copyByHand)
    setCopied(isDone)
  }
  return (
    <button
      type='button'
      class={`button button-quiet${isIconOnly ? ' icon-only' : ''}`}
      aria-label={caption ?? `${messages.shell.copy}: ${label}`}
      onClick={copy}
    >
      <Icon name={isCopied ? 'check' : 'copy'} />
      {!isIconOnly && <span>{isCopied ? messages.shell.copied : (caption ?? messages.shell.copy)}</span>}
    </button>
  )
}

/**
 * Copies a text to the clipboard. In an iframe without permission for the clipboard it uses the copy command, which
 * needs selected text next to the button.
 */
async function copyText (text: string, beside: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyByCommand(text, beside)
  }
}

function copyByCommand (text: string, beside: HTMLElement): boolean {
  const area = document.createElement('textarea')
  area.value = text
  area.readOnly = true
  area.className = 'unseen'
  beside.after(area)
  area.select()
  try {
    return document.execCommand('copy')
  } catch {
    return false
  } finally {
    area.remove()
    beside.focus()
  }
}

/**
 * Code or a body in a box that scrolls. `label` names it for screen readers and the button, which copies the
 * original, `exact`.
 */
export function CodeBlock ({ code, exact = code, label }: { code: string, exact?: string, label: string }) {
  return (
    <div class='code'>
      {/* Can be focused, so that the keyboard scrolls it. */}
      <pre tabIndex={0} role='region' aria-label={label} dir='ltr'><code>{showControls(code)}</code></pre>
      <Copy text={exact} label={label} isIconOnly />
    </div>
  )
}

/** Attributes that connect a control with its label, hint and error. */
interface ControlProps {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': boolean
}

interface FieldProps {
  label: string
  hint?: ComponentChildren
  error?: string | null
  /** Renders the control: `{(control) => <input {...control} />}`. */
  children: (control: ControlProps) => ComponentChildren
}

export function Field ({ label, hint, error = null, children }: FieldProps) {
  const id = useId()
  const described = [hint === undefined ? '' : `${id}-hint`, error === null ? '' : `${id}-error`]
    .filter(Boolean)
    .join(' ')
  return (
    <div class='field'>
      <label for={id}>{label}</label>
      {hint !== undefined && <p class='hint' id={`${id}-hint`}>{hint}</p>}
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error !== null })}
      {error !== null && <p class='field-error' id={`${id}-error`}><Icon name='bad' /> <span>{error}</span></p>}
    </div>
  )
}

/**
 * Returns a function that moves the focus to the first field with an error, once the form shows why it was rejected.
 */
export function useErrorFocus (form: RefObject<HTMLElement | null>): () => void {
  const [turn, setTurn] = useState(0)
  useLayoutEffect(() => {
    if (turn > 0) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [turn])
  return () => setTurn((previous) => previous + 1)
}

/** Buttons to page through a list. */
export function Pager ({
  page,
  pages,
  onPage,
  isBusy = false
}: {
  page: number
  pages: number
  onPage: (page: number) => void
  isBusy?: boolean
}) {
  const {
    messages: { shell },
    text
  } = useFormat()
  if (pages <= 1 && page === 1) return null
  return (
    <nav class='pager' aria-label={shell.pages.label}>
      <Button onClick={() => onPage(page - 1)} isDisabled={page <= 1 || isBusy}>
        {shell.pages.previous}
      </Button>
      <span>{text(shell.pages.position, { page, pages })}</span>
      <Button onClick={() => onPage(page + 1)} isDisabled={page >= pages || isBusy}>
        {shell.pages.next}
      </Button>
    </nav>
  )
}

interface Tab {
  name: string
  content: ComponentChildren
}

/** Tabs, for example one per language. Arrow keys select. */
export function Tabs ({ label, tabs }: { label: string, tabs: readonly Tab[] }) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const [chosen, setChosen] = useState(0)
  const choose = (index: number) => {
    const next = (index + tabs.length) % tabs.length
    setChosen(next)
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const next = nextTab(event.key, chosen, tabs.length, list.current?.matches(':dir(rtl)') === true)
    if (next === null) return
    event.preventDefault()
    choose(next)
  }
  return (
    <div class='tabs'>
      <div ref={list} role='tablist' aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map(({ name }, index) => (
          <button
            key={name}
            type='button'
            role='tab'
            id={`${id}-tab-${index}`}
            aria-controls={`${id}-panel`}
            aria-selected={index === chosen}
            tabIndex={index === chosen ? 0 : -1}
            onClick={() => choose(index)}
          >
            {name}
          </button>
        ))}
      </div>
      <div role='tabpanel' id={`${id}-panel`} aria-labelledby={`${id}-tab-${chosen}`}>
        {tabs[chosen]?.content}
      </div>
    </div>
  )
}

function nextTab (key: string, chosen: number, count: number, isRightToLeft: boolean): number | null {
  const forward = isRightToLeft ? -1 : 1
  const moves: Record<string, number> = {
    ArrowRight: chosen + forward,
    ArrowLeft: chosen - forward,
    Home: 0,
    End: count - 1
  }
  return moves[key] ?? null
}

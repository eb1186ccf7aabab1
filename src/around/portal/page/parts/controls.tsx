import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { type PagedQuery, usePortal } from '../hooks.js'
import type { Route } from '../session.js'
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
  replay: 'M13 8a5 5 0 1 1-1.6-3.7M13.2 2v3h-3',
  close: 'm4 4 8 8M12 4l-8 8'
} as const

type IconName = keyof typeof paths

/** A picture next to a word: screen readers skip it. */
export function Icon ({ name }: { name: IconName }) {
  const isTurned = name === 'back' || name === 'forward'
  return (
    <svg
      class={isTurned ? 'icon icon-turned' : 'icon'} viewBox='0 0 16 16' width='16' height='16' aria-hidden='true'
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
  /** The name for screen readers. */
  label?: string | undefined
}

export function Button (
  { children, onClick, kind = 'plain', type = 'button', icon, isBusy = false, isDisabled = false, label }: ButtonProps
) {
  const { messages } = usePortal()
  const isInert = isBusy || isDisabled
  const click = (event: Event) => {
    if (isInert) event.preventDefault()
    else onClick?.()
  }
  return (
    <button
      type={type} class={`button button-${kind}`} aria-disabled={isInert} aria-busy={isBusy} aria-label={label}
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
  /** Whether it leads to the current screen. */
  isCurrent?: boolean
}

/** A link within the portal. On a host's page, which has no URL for it, it is a button with the role `link`. */
export function Link ({ to, children, look = 'link', isCurrent = false }: LinkProps) {
  const { href, go } = usePortal()
  const address = href(to)
  const shared = { class: look, 'aria-current': isCurrent ? 'page' : undefined } as const
  if (address === null) return <button {...shared} type='button' role='link' onClick={() => go(to)}>{children}</button>
  return <a {...shared} href={address}>{children}</a>
}

interface CopyProps {
  text: string
  /** Names the text. */
  label: string
  /** The text of the button. @default "Copy" */
  caption?: string
  isIconOnly?: boolean
}

/** Copies a text and confirms it. */
export function Copy ({ text, label, caption, isIconOnly = false }: CopyProps) {
  const { messages: { shell }, announce } = usePortal()
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 2000)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = async ({ currentTarget }: { currentTarget: HTMLElement }) => {
    const isDone = await copyText(text, currentTarget)
    announce(isDone ? shell.copied : shell.copyByHand)
    setCopied(isDone)
  }
  return (
    <button
      type='button' class={`button button-quiet${isIconOnly ? ' icon-only' : ''}`}
      aria-label={caption ?? `${shell.copy}: ${label}`} onClick={copy}
    >
      <Icon name={isCopied ? 'check' : 'copy'} />
      {!isIconOnly && <span>{isCopied ? shell.copied : (caption ?? shell.copy)}</span>}
    </button>
  )
}

/**
 * Copies text to the clipboard. In an iframe without clipboard permission it uses the copy command, which needs
 * selected text next to the button.
 */
async function copyText (text: string, button: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyByCommand(text, button)
  }
}

function copyByCommand (text: string, button: HTMLElement): boolean {
  const area = Object.assign(document.createElement('textarea'), { value: text, readOnly: true, className: 'unseen' })
  button.after(area)
  area.select()
  try {
    return document.execCommand('copy')
  } catch {
    return false
  } finally {
    area.remove()
    button.focus()
  }
}

/** An address or another exact text, with a button that copies it. */
export function CopyLine ({ text, label }: { text: string, label: string }) {
  return (
    <p class='with-copy'>
      <code class='whole' dir='ltr'>{showControls(text)}</code> <Copy text={text} label={label} isIconOnly />
    </p>
  )
}

/**
 * Code or a body in a scrollable box. `label` is its name for screen readers. The button copies `exact`, the original.
 */
export function CodeBlock ({ code, exact = code, label }: { code: string, exact?: string, label: string }) {
  return (
    <div class='code'>
      {/* Focusable, so that the keyboard can scroll it. */}
      <pre tabIndex={0} role='region' aria-label={label} dir='ltr'><code>{showControls(code)}</code></pre>
      <Copy text={exact} label={label} isIconOnly />
    </div>
  )
}

/** Buttons to page through a list. */
export function Pager ({ list: { page, setPage, value, isLoading } }: { list: PagedQuery<unknown> }) {
  const { messages: { shell: { pages: texts } }, text } = usePortal()
  // A capped total is too low: the list ends with a page that is not full.
  const isFull = value?.meta.total_is_capped === true && value.data.length === value.meta.per_page
  const pages = Math.max(value?.meta.total_pages ?? 0, isFull ? page + 1 : 0)
  if (pages <= 1 && page === 1) return null
  return (
    <nav class='pager' aria-label={texts.label}>
      <Button onClick={() => setPage(page - 1)} isDisabled={page <= 1 || isLoading}>{texts.previous}</Button>
      <span>{text(texts.position, { page, pages })}</span>
      <Button onClick={() => setPage(page + 1)} isDisabled={page >= pages || isLoading}>{texts.next}</Button>
    </nav>
  )
}

import { useEffect, useState } from 'preact/hooks'
import { usePortal } from '../state/portal.js'
import { copyText } from './copy-text.js'
import { Icon } from './icon.js'

/** Copies a text, and says so. `label` names what is copied. */
export function Copy ({ text, label, isIconOnly = false }: { text: string, label: string, isIconOnly?: boolean }) {
  const { format: { messages }, announce } = usePortal()
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
    <button type='button' class={`button button-quiet${isIconOnly ? ' icon-only' : ''}`} aria-label={`${messages.shell.copy}: ${label}`} onClick={copy}>
      <Icon name={isCopied ? 'check' : 'copy'} />
      {!isIconOnly && <span>{isCopied ? messages.shell.copied : messages.shell.copy}</span>}
    </button>
  )
}

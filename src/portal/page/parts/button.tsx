import type { ComponentChildren, Ref } from 'preact'
import { useFormat } from '../state/portal.js'
import { Icon, type IconName } from './icon.js'

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

export function Button ({ children, onClick, kind = 'plain', type = 'button', icon, isBusy = false, isDisabled = false, label, buttonRef }: ButtonProps) {
  const { messages } = useFormat()
  const isInert = isBusy || isDisabled
  const click = (event: Event) => {
    if (isInert) event.preventDefault()
    else onClick?.()
  }
  return (
    <button ref={buttonRef ?? null} type={type} class={`button button-${kind}`} aria-disabled={isInert} aria-busy={isBusy} aria-label={label} onClick={click}>
      {isBusy ? <span class='spinner' /> : icon !== undefined && <Icon name={icon} />}
      <span>{children}</span>
      {isBusy && <span class='unseen'>{messages.shell.working}</span>}
    </button>
  )
}

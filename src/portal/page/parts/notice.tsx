import type { ComponentChildren } from 'preact'
import type { Tone } from '../health.js'
import { Icon } from './icon.js'

interface NoticeProps {
  tone: Tone
  title: string
  children?: ComponentChildren
  /** Whether a screen reader interrupts to say it. */
  isUrgent?: boolean
}

/** A box that says something about what is around it. */
export function Notice ({ tone, title, children, isUrgent = false }: NoticeProps) {
  return (
    <div class={`notice notice-${tone}`} role={isUrgent ? 'alert' : 'status'}>
      <Icon name={tone} />
      <div>
        <p class='notice-title'>{title}</p>
        {children}
      </div>
    </div>
  )
}

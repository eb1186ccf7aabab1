import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.js'

/** Says why there is nothing yet, and what to do. */
export function Empty ({ title, children, action, icon = 'webhook' }: { title: string, children: ComponentChildren, action?: ComponentChildren, icon?: IconName }) {
  return (
    <div class='empty'>
      <Icon name={icon} />
      <h2>{title}</h2>
      <p>{children}</p>
      {action}
    </div>
  )
}

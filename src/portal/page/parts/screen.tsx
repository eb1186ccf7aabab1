import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Route } from '../route/route.js'
import { usePortal } from '../state/portal.js'
import { Icon } from './icon.js'
import { Link } from './link.js'
import { Name } from './name.js'

interface ScreenProps {
  title: ComponentChildren
  /** Under the title. */
  intro?: ComponentChildren
  /** Buttons beside the title, the main one last. */
  actions?: ComponentChildren
  /** The screen above. */
  back?: { to: Route, label: string }
  children: ComponentChildren
}

/** The frame of a screen. Its title gets the focus when the screen is entered from another one. */
export function Screen ({ title, intro, actions, back, children }: ScreenProps) {
  const { format: { messages }, visits, title: heading } = usePortal()
  useEffect(() => {
    // The first screen leaves the focus where the page has it.
    if (visits.current > 0) heading.current?.focus()
    visits.current += 1
  }, [])
  return (
    <>
      {back !== undefined && (
        <nav class='back' aria-label={messages.shell.back}><Link to={back.to}><Icon name='back' /> <Name>{back.label}</Name></Link></nav>
      )}
      <header class='screen-head'>
        <div>
          <h1 ref={heading} tabIndex={-1}>{title}</h1>
          {intro !== undefined && <p class='intro'>{intro}</p>}
        </div>
        {actions !== undefined && <div class='actions'>{actions}</div>}
      </header>
      {children}
    </>
  )
}

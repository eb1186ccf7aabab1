import type { ComponentChildren } from 'preact'
import type { Route } from '../route/route.js'
import { usePortal } from '../state/portal.js'

/** Goes to a place in the portal. In a page of the host there is no address for it: a button says that it is a link. */
export function Link ({ to, children, look = 'link' }: { to: Route, children: ComponentChildren, look?: string }) {
  const { href, go } = usePortal()
  const address = href(to)
  if (address === null) return <button type='button' role='link' class={look} onClick={() => go(to)}>{children}</button>
  return <a class={look} href={address}>{children}</a>
}

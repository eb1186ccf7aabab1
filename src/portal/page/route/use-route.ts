import { useEffect, useRef, useState } from 'preact/hooks'
import { type Route, formatRoute, parseRoute } from './route.js'

/** The place in the portal, and how to go to another one. */
export interface Navigation {
  route: Route
  go (route: Route): void
  /** Goes without asking the guard, and takes the place of this one in the history. */
  leave (route: Route): void
  /** The address of a route; `null` in a page of the host, whose address is its own. */
  href (route: Route): string | null
  /** Called in place of going: a form with changes asks first. */
  guard: { current: ((next: Route) => void) | null }
}

/** Keeps the route in the address of a page of our own, so that Back works; in a host's page, in memory alone. */
export function useRoute (isOwnPage: boolean): Navigation {
  const [route, setRoute] = useState<Route>(() => isOwnPage ? parseRoute(location.hash) : { screen: 'endpoints' })
  const guard = useRef<((next: Route) => void) | null>(null)
  const shown = useRef(route)
  shown.current = route

  useEffect(() => {
    if (!isOwnPage) return
    const read = () => {
      const next = parseRoute(location.hash)
      const here = formatRoute(shown.current)
      if (guard.current === null || formatRoute(next) === here) return setRoute(next)
      // By a link or by Back, the address has changed already.
      history.pushState(null, '', here)
      guard.current(next)
    }
    addEventListener('hashchange', read)
    return () => removeEventListener('hashchange', read)
  }, [isOwnPage])

  return {
    route,
    guard,
    go: (next) => {
      if (isOwnPage) location.hash = formatRoute(next)
      else if (guard.current !== null) guard.current(next)
      else setRoute(next)
    },
    leave: (next) => {
      guard.current = null
      if (isOwnPage) location.replace(formatRoute(next))
      else setRoute(next)
    },
    href: (next) => isOwnPage ? formatRoute(next) : null
  }
}

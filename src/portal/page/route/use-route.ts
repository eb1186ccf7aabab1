import { useEffect, useState } from 'preact/hooks'
import { type Route, formatRoute, parseRoute } from './route.js'

/** The place in the portal, and how to go to another one. */
export interface Navigation {
  route: Route
  go (route: Route): void
  href (route: Route): string | null
}

/** Keeps the route in the address of a page of our own, so that Back works; in a host's page, in memory alone. */
export function useRoute (isOwnPage: boolean): Navigation {
  const [route, setRoute] = useState<Route>(() => isOwnPage ? parseRoute(location.hash) : { screen: 'endpoints' })
  useEffect(() => {
    if (!isOwnPage) return
    const read = () => setRoute(parseRoute(location.hash))
    addEventListener('hashchange', read)
    return () => removeEventListener('hashchange', read)
  }, [isOwnPage])
  return {
    route,
    go: (next) => { if (isOwnPage) location.hash = formatRoute(next); else setRoute(next) },
    href: (next) => isOwnPage ? formatRoute(next) : null
  }
}

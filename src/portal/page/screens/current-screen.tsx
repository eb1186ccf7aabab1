import { usePortal } from '../state/portal.js'
import { EndpointsScreen } from './endpoints.js'

/** The screen of the route. The key makes it a new one for another webhook. */
export function CurrentScreen () {
  const { route } = usePortal()
  switch (route.screen) {
    case 'endpoints': return <EndpointsScreen />
    default: return <EndpointsScreen />
  }
}

import { usePortal } from '../state/portal.js'
import { CreateScreen } from './create.js'
import { EditScreen } from './edit.js'
import { DeliveryScreen } from './delivery.js'
import { EndpointScreen } from './endpoint.js'
import { EndpointsScreen } from './endpoints.js'

/** The screen of the route. The key makes it a new one for another webhook. */
export function CurrentScreen () {
  const { route, can } = usePortal()
  switch (route.screen) {
    case 'create': return can('write') && can('secrets') ? <CreateScreen /> : <EndpointsScreen />
    case 'edit': return can('write') ? <EditScreen key={route.id} id={route.id} /> : <EndpointScreen key={route.id} id={route.id} />
    case 'endpoint': return <EndpointScreen key={route.id} id={route.id} />
    case 'delivery': return <DeliveryScreen key={`${route.id}/${route.deliveryId}`} id={route.id} deliveryId={route.deliveryId} />
    default: return <EndpointsScreen />
  }
}

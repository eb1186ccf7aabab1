/** A place in the portal. */
export type Route =
  | { screen: 'endpoints' }
  | { screen: 'create' }
  | { screen: 'keys' }
  | { screen: 'newKey' }
  | { screen: 'endpoint', id: number }
  | { screen: 'edit', id: number }
  | { screen: 'delivery', id: number, deliveryId: number }

/** Formats a route as the fragment of the page's URL, for example `#/1/deliveries/2`. */
export function formatRoute (route: Route): string {
  switch (route.screen) {
    case 'endpoints': return '#/'
    case 'create': return '#/new'
    case 'keys': return '#/keys'
    case 'newKey': return '#/keys/new'
    case 'endpoint': return `#/${route.id}`
    case 'edit': return `#/${route.id}/edit`
    case 'delivery': return `#/${route.id}/deliveries/${route.deliveryId}`
  }
}

/** Reads a route. Anything else is the list. */
export function parseRoute (hash: string): Route {
  if (hash === '#/new') return { screen: 'create' }
  if (hash === '#/keys') return { screen: 'keys' }
  if (hash === '#/keys/new') return { screen: 'newKey' }
  const [, idText, rest, deliveryText] = /^#\/(\d{1,16})(?:\/(edit|deliveries\/(\d{1,16})))?$/.exec(hash) ?? []
  if (idText === undefined) return { screen: 'endpoints' }
  const id = Number(idText)
  if (rest === undefined) return { screen: 'endpoint', id }
  return deliveryText === undefined
    ? { screen: 'edit', id }
    : { screen: 'delivery', id, deliveryId: Number(deliveryText) }
}

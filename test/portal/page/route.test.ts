import t from 'tap'
import { type Route, formatRoute, parseRoute } from '../../../src/portal/page/route.js'

t.test('every place has an address, and is read from it', (t) => {
  const places: Array<[Route, string]> = [
    [{ screen: 'endpoints' }, '#/'],
    [{ screen: 'create' }, '#/new'],
    [{ screen: 'endpoint', id: 12 }, '#/12'],
    [{ screen: 'edit', id: 12 }, '#/12/edit'],
    [{ screen: 'delivery', id: 12, deliveryId: 5 }, '#/12/deliveries/5']
  ]
  for (const [route, address] of places) {
    t.equal(formatRoute(route), address)
    t.strictSame(parseRoute(address), route)
  }
  t.end()
})

t.test('any other address is the list', (t) => {
  for (const address of ['', '#', '#/x', '#/1/2', '#/12345678901234567', '#/1/deliveries', '#token=a']) t.strictSame(parseRoute(address), { screen: 'endpoints' }, address)
  t.end()
})

import t from 'tap'
import { countConnects } from '../fixtures/hostile/hostile-connections.js'
import { outcomeOf, startSender } from '../fixtures/hostile/hostile-sender.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'

for (const status of [300, 301, 302, 303, 304, 305, 307, 308]) {
  t.test(`a ${status} is a failure and nothing is sent to where it leads`, async (t) => {
    const target = await startReceiver(t)
    const endpoint = await startReceiver(t)
    const sender = await startSender(t)
    const connects = countConnects(t)
    const locations = [target.url, `//127.0.0.1:${target.port}/`, '/elsewhere', 'http://169.254.169.254/', 'file:///etc/passwd', '']
    for (const location of locations) {
      endpoint.answer({ status, headers: { location, refresh: `0; url=${target.url}`, connection: 'close' } })
      t.same(outcomeOf(await sender.post(endpoint.url)), { responseStatus: status, error: 'http_status' }, location)
    }
    t.equal(connects.count, locations.length)
    t.same(endpoint.requests.map(({ path }) => path), locations.map(() => '/hook'))
    t.same(target.requests, [])
  })
}

t.test('a success that names another place is a success, and nothing is sent there', async (t) => {
  const target = await startReceiver(t)
  const endpoint = await startReceiver(t)
  const sender = await startSender(t)
  for (const status of [200, 201, 202]) {
    endpoint.answer({ status, headers: { location: target.url, 'content-location': target.url, link: `<${target.url}>; rel=preload`, 'alt-svc': `http/1.1=":${target.port}"` } })
    t.same(outcomeOf(await sender.post(endpoint.url)), { responseStatus: status, error: null })
  }
  t.equal(endpoint.requests.length, 3)
  t.same(target.requests, [])
})

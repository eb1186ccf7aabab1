import t from 'tap'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { createRecruiting } from '../../src/index.js'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'
import { buildAppWithWebhook, requestTo, titleOf, urlOf } from '../fixtures/api/routes.js'
import { lists, parseLinks, storeItems } from '../fixtures/api/lists.js'
import { portal } from '../fixtures/portal/sessions.js'

t.test('every successful operation returns the headers of the contract', async (t) => {
  const json = 'application/json; charset=utf-8'
  for (const route of (await buildAppWithWebhook(t)).routes) {
    // A new app, because another operation may have deleted or paused the webhook.
    const { app } = await buildAppWithWebhook(t)
    const id = route.path.startsWith('/api_keys') ? 'key_2' : route.path.startsWith('/events') ? 'evt_acme_1' : '1'
    const { statusCode, headers } = await app.inject(requestTo(route, { id }))
    t.ok(statusCode >= 200 && statusCode < 300, `${titleOf(route)} succeeds`)
    t.match(headers['x-request-id'], /^req_\S{20,}$/)
    t.same([
      headers['content-type'], headers['cache-control'], headers['x-content-type-options'], headers['www-authenticate']
    ], [statusCode === 204 ? undefined : json, 'no-store', 'nosniff', undefined], titleOf(route))
  }
})

const callers = {
  'a full key': bearer(keys.full),
  'a key without scopes': bearer(keys.none),
  'an unknown key': bearer('unknown'),
  'no key': {}
}

const hasEvents = ['GET /events', 'GET /events/:id', 'GET /webhooks/:id/deliveries/:delivery_id']

t.test('HEAD returns the status and headers of every GET operation, without a body', async (t) => {
  const { app, routes } = await buildAppWithWebhook(t)
  for (const route of routes.filter(({ method }) => method === 'GET')) {
    for (const [who, headers] of Object.entries(callers)) {
      for (const query of ['', '?unknown=1']) {
        const url = urlOf(route) + query
        const get = await app.inject({ method: 'GET', url, headers })
        const head = await app.inject({ method: 'HEAD', url, headers })
        const { 'x-request-id': id, date, ...rest } = head.headers
        const { 'x-request-id': idOfGet, date: dateOfGet, ...restOfGet } = get.headers
        // It does not read events, so it does not know their length.
        if (hasEvents.includes(titleOf(route)) && head.statusCode === 200) delete restOfGet['content-length']
        t.same([head.statusCode, rest], [get.statusCode, restOfGet], `${titleOf(route)}${query} with ${who}`)
        t.match(id, /^req_/)
        t.equal(head.body, '')
      }
    }
  }
})

const publicUrl = 'https://example.com/ats'
const path = '/api/v1/public/acme'
const headers = bearer(keys.full)
const webhook = { name: 'ATS', target_url: 'https://example.com/hook', event_types: ['job.created'] }

/** The path that the proxy requests from the server. */
function cutOff (url: unknown): string {
  t.ok(String(url).startsWith(`${publicUrl}/`), String(url))
  return String(url).slice(publicUrl.length)
}

t.test('a host can mount the API below another prefix, next to a second one', async (t) => {
  const app = await buildApp(t, { prefix: '/hr/v1' })
  const answer = await app.inject({ url: '/hr/v1/acme/jobs?per_page=1', headers: bearer(keys.full) })
  t.equal(answer.statusCode, 200)
  t.equal(parseLinks(answer.headers.link)?.next, '/hr/v1/acme/jobs?page=2&per_page=1&sort=id')
  t.equal((await app.inject({ url: '/hr/v1/acme/nothing' })).json().error.code, 'unauthorized')
  t.equal((await app.inject({ url: '/api/v1/public/acme/jobs', headers: bearer(keys.full) })).json().message,
    'Route GET:/api/v1/public/acme/jobs not found')
})

t.test('links begin with publicUrl and lead to pages, in every list', async (t) => {
  const app = await buildApp(t, { ...await storeItems(3), publicUrl })
  for (const list of lists) {
    const answer = await app.inject({ url: `${path}/${list}?per_page=1&page=2&sort=-id`, headers })
    const links = parseLinks(answer.headers.link)
    t.equal(links?.first, `${publicUrl}${path}/${list}?page=1&per_page=1&sort=-id`)
    for (const url of Object.values(links ?? {})) {
      t.equal((await app.inject({ url: cutOff(url), headers })).statusCode, 200, url)
    }
  }
})

t.test('the Location of a new webhook begins with publicUrl and leads to it', async (t) => {
  const app = await buildApp(t, { publicUrl: `${publicUrl}/` })
  const { headers: { location } } = await app.inject({ method: 'POST', url: `${path}/webhooks`, headers, payload: webhook })
  t.equal(location, `${publicUrl}${path}/webhooks/1`)
  t.equal((await app.inject({ url: cutOff(location), headers })).statusCode, 200)
})

t.test('the document has publicUrl as its server, and paths relative to it', async (t) => {
  const app = await buildApp(t, { publicUrl })
  const document = (await app.inject('/api/v1/public/openapi.json')).json()
  t.strictSame(document.servers, [{ url: publicUrl }])
  t.ok(document.paths['/api/v1/public/{tenant_slug}/candidates'])
})

t.test('the URL of a portal session begins with publicUrl', async (t) => {
  const session = { tenantSlug: 'acme', actor: 'ada' }
  const options = { publicUrl, portal }
  const app = await buildApp(t, options)
  const standalone = createRecruiting({ storage: memoryStorage(), delivery: { worker: false }, ...options })
  t.teardown(() => standalone.close())
  for (const recruiting of [app.recruiting, standalone]) {
    const { url } = await recruiting.portal.createSession(session)
    t.equal(url.split('#')[0], `${publicUrl}/api/v1/public/portal/`)
  }
})

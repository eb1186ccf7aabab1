import t from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { memoryStorage } from '../../../src/memory/index.js'
import { bearer, buildApp, keys } from '../../fixtures/api/app.js'
import { lists, parseLinks, storeItems } from '../../fixtures/api/lists.js'
import { portal } from '../../fixtures/portal/sessions.js'

const publicUrl = 'https://example.com/ats'
const path = '/api/v1/public/acme'
const headers = bearer(keys.full)
const webhook = { name: 'ATS', target_url: 'https://example.com/hook', event_types: ['job.created'] }

/** The path that the proxy asks the server for. */
function cutOff (url: unknown): string {
  t.ok(String(url).startsWith(`${publicUrl}/`), String(url))
  return String(url).slice(publicUrl.length)
}

t.test('links begin with publicUrl and lead to pages, in every list', async (t) => {
  const app = await buildApp(t, { ...await storeItems(3), publicUrl })
  for (const list of lists) {
    const answer = await app.inject({ url: `${path}/${list}?per_page=1&page=2&sort=-id`, headers })
    const links = parseLinks(answer.headers.link)
    t.equal(links?.first, `${publicUrl}${path}/${list}?page=1&per_page=1&sort=-id`)
    for (const url of Object.values(links ?? {})) t.equal((await app.inject({ url: cutOff(url), headers })).statusCode, 200, url)
  }
})

t.test('the Location of a new webhook begins with publicUrl and leads to it', async (t) => {
  const app = await buildApp(t, { publicUrl: `${publicUrl}/` })
  const { headers: { location } } = await app.inject({ method: 'POST', url: `${path}/webhooks`, headers, payload: webhook })
  t.equal(location, `${publicUrl}${path}/webhooks/1`)
  t.equal((await app.inject({ url: cutOff(location), headers })).statusCode, 200)
})

t.test('the document has publicUrl as its server, and below it the paths that the server has', async (t) => {
  const app = await buildApp(t, { publicUrl })
  const document = (await app.inject('/api/v1/public/openapi.json')).json()
  t.strictSame(document.servers, [{ url: publicUrl }])
  t.ok(document.paths['/api/v1/public/{tenant_slug}/candidates'])
})

t.test('openapi.servers have precedence over publicUrl', async (t) => {
  const servers = [{ url: 'https://eu.example.com' }, { url: 'https://us.example.com' }]
  const app = await buildApp(t, { publicUrl, openapi: { servers } })
  t.strictSame((await app.inject('/api/v1/public/openapi.json')).json().servers, servers)
})

t.test('the URL of a portal session begins with publicUrl, or with portal.baseUrl if both are set', async (t) => {
  const session = { tenantSlug: 'acme', actor: 'ada' }
  for (const [baseUrl, base] of [['', publicUrl], ['https://portal.example.com', 'https://portal.example.com']] as const) {
    const options = { publicUrl, portal: { ...portal, baseUrl } }
    const app = await buildApp(t, options)
    const standalone = createRecruiting({ storage: memoryStorage(), delivery: { worker: false }, ...options })
    t.teardown(() => standalone.close())
    for (const { url } of [await app.recruiting.portal.createSession(session), await standalone.portal.createSession(session)]) {
      t.equal(url.split('#')[0], `${base}/api/v1/public/portal/`)
    }
  }
})

t.test('without publicUrl these are paths', async (t) => {
  const app = await buildApp(t, { portal })
  const { headers: { link } } = await app.inject({ url: `${path}/webhooks`, headers })
  t.equal(parseLinks(link)?.first, `${path}/webhooks?page=1&per_page=25&sort=id`)
  const { headers: { location } } = await app.inject({ method: 'POST', url: `${path}/webhooks`, headers, payload: webhook })
  t.equal(location, `${path}/webhooks/1`)
  const { url } = await app.recruiting.portal.createSession({ tenantSlug: 'acme', actor: 'ada' })
  t.match(url, /^\/api\/v1\/public\/portal\/#/)
  t.strictSame((await app.inject('/api/v1/public/openapi.json')).json().servers, [{ url: '/', description: 'Where this document is served' }])
})

import { readFile } from 'node:fs/promises'
import t from 'tap'
import { request } from './fixtures/request.js'
import { runExample } from './fixtures/run-example.js'

t.test('a settings page embeds the portal, whose session manages webhooks', async (t) => {
  const example = runExample(t, '12-portal.ts', { PORT: '0' })
  const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
  const docs = await readFile(new URL('../../docs/portal.md', import.meta.url), 'utf8')
  for (const [path, snippet] of [['webhooks', /^```html\n(.*?<iframe.*?)^```$/ms], ['webhooks.js', /^```js\n(addEventListener.*?)^```$/ms]] as const) {
    const served = await (await fetch(`${origin}/settings/${path}`)).text()
    t.ok(served.includes(snippet.exec(docs)?.[1]?.trim() ?? 'none'), `it is the ${path} of docs/portal.md`)
  }

  const { url, token } = (await request(`${origin}/settings/webhooks/session`, { method: 'POST' })).body as { url: string, token: string }
  const portal = await fetch(new URL(url, origin))
  t.equal(portal.status, 200)
  t.match(portal.headers.get('content-security-policy'), "frame-ancestors 'self'")

  const webhooks = `${origin}/api/v1/public/acme/webhooks`
  const body = { name: 'CRM sync', target_url: 'https://hooks.example.com/', event_types: ['job.created'] }
  t.equal((await request(webhooks, { key: token, body })).status, 201)
  t.match((await request(webhooks, { key: token })).body, { meta: { total: 1 } })
  t.equal(await example.end('SIGTERM'), 0)
})

import { build } from 'esbuild'
import t from 'tap'
import type * as Client from '../../../../src/around/client/index.js'
import { signHeaders } from '../../../../src/core/webhooks/sending/signature.js'
import { buildApp, keys } from '../../../fixtures/api/app.js'
import { noBrowser, startBrowser, visit } from '../../../fixtures/browser/browser.js'
import { runExample } from '../../../fixtures/examples/run-example.js'
import { becomes } from '../../../fixtures/browser/becomes.js'

/** The page's globals. */
type ClientPage = typeof globalThis & { client: typeof Client }

const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`

t.test('the client works in a browser', { skip: noBrowser }, async (t) => {
  const { outputFiles: [file] } = await build({ entryPoints: ['src/around/client/index.ts'], bundle: true, format: 'iife', globalName: 'client', write: false })
  const app = await buildApp(t, {
    server: { forceCloseConnections: true },
    before (app) {
      app.get('/page', (_request, reply) => reply.type('text/html').send(`<link rel="icon" href="data:,"><script>${file?.text}</script>`))
    }
  })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  await app.recruiting.emit({ tenantSlug: 'acme', type: 'job.created', data: { id: 7 } })
  const { page, errors } = await visit(await startBrowser(t), `${origin}/page`)

  const read = await page.evaluate(async ({ baseUrl, key }) => {
    const { client: { createClient } } = globalThis as ClientPage
    const client = createClient({ baseUrl, tenantSlug: 'acme', key })
    const ids: unknown[] = []
    for await (const { data } of client.jobs.list({ per_page: 1 })) ids.push(...data.map(({ id }) => id))
    for await (const { data } of client.candidates.sync()) ids.push(...data.map(({ id }) => id))
    for await (const { data } of client.events()) ids.push(...data.map(({ data }) => data?.['id']))
    return ids
  }, { baseUrl: `${origin}/api/v1/public`, key: keys.full })
  t.strictSame(read, [1, 2, 1, 2, 3, 7])

  const body = '{"id":"evt_1"}'
  const headers = { ...signHeaders([secret], 'evt_1', body, Date.now()) }
  const verified = await page.evaluate(async ({ body, headers, secret }) => {
    const { client: { verifyWebhook } } = globalThis as ClientPage
    return [await verifyWebhook(body, headers, secret), await verifyWebhook(`${body} `, headers, secret).catch((error: unknown) => String(error))]
  }, { body, headers, secret })
  t.match(verified, [{ id: 'evt_1' }, 'webhook-signature: does not match the body and the secret'])
  t.same(errors, [])
})

/** Counts the operations and webhooks in the document. */
function countOperations ({ paths, webhooks }: { paths: object, webhooks: object }): number {
  const methods = ['get', 'post', 'patch', 'delete']
  return [paths, webhooks].flatMap((part) => Object.values(part)).flatMap((path) => Object.keys(path))
    .filter((name) => methods.includes(name)).length
}

t.test('the reference page', { skip: noBrowser }, async (t) => {
  const example = runExample(t, '07-reference-page.ts', { PORT: '0' })
  const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
  const reference = `${origin}/reference/`
  const browser = await startBrowser(t)

  await t.test('shows every operation and event, and requests nothing from other origins', async (t) => {
    const { page, strayRequests, errors } = await visit(browser, reference)
    await page.getByText('candidate.anonymized').first().waitFor()
    const document = await (await fetch(`${origin}/api/v1/public/openapi.json`)).json()
    await becomes(t, () => page.locator('.opblock').count(), countOperations(document as Parameters<typeof countOperations>[0]))
    t.same(strayRequests, [])
    t.same(errors, [])

    await page.locator('#operations-candidates-listCandidates .opblock-summary-control').click()
    await page.getByText('Needs candidates:read or candidates:write.').waitFor()
  })

  t.equal(await example.end('SIGTERM'), 0)
})

import type { FrameLocator, Page } from 'playwright-core'
import t from 'tap'
import { type Visit, noBrowser, startBrowser, visit } from '../fixtures/browser/browser.js'
import { type PortalHost, startPortalHost } from '../fixtures/browser/portal-host.js'
import { elementPages, framePage, startRewritingProxy, startSite } from '../fixtures/browser/portal-sites.js'

/** Renames the webhook of the list: this needs the script, the style, reads and a change. */
async function rename (portal: Page | FrameLocator, name: string): Promise<void> {
  await portal.getByRole('link', { name: 'CRM sync' }).click()
  await portal.getByRole('link', { name: 'Edit' }).click()
  await portal.getByLabel('Name').fill(name)
  await portal.getByRole('button', { name: 'Save changes' }).click()
  await portal.getByRole('heading', { level: 1, name }).waitFor()
}

/** The names of the tenant's webhooks, as they are stored. */
async function storedNames ({ recruiting }: PortalHost): Promise<string[]> {
  const { data } = await recruiting.webhooks.list('acme', {})
  return data.map(({ name }) => name)
}

/** Waits until the browser says that it does not show a frame. */
async function seeRefusal ({ page, errors }: Visit): Promise<void> {
  while (!errors.some((error) => error.includes('frame-ancestors'))) await page.waitForEvent('console')
}

t.test('the portal in its surroundings', { skip: noBrowser }, async (t) => {
  const browser = await startBrowser(t)

  await t.test('as a page of its own, under helmet, it is there after four requests besides those of the API, with the texts of one language', async (t) => {
    const host = await startPortalHost(t)
    await host.addWebhook()
    const { page, errors, strayRequests } = await visit(browser, await host.createSession())
    await page.getByRole('link', { name: 'CRM sync' }).waitFor()
    const urls = host.requests.map(({ url }) => url)
    const first = urls.findIndex((url) => url.startsWith('/api/v1/public/acme/'))
    const files = urls.slice(0, first).map((url) => url.replace(/^\/api\/v1\/public\/|-[\da-f]{16}/g, ''))
    t.same(files.sort(), ['portal/', 'portal/assets/portal.css', 'portal/assets/portal.js', 'portal/assets/portal.json'])
    await rename(page, 'Alone')
    t.same(await storedNames(host), ['Alone'])
    t.same([errors, strayRequests], [[], []])
  })

  await t.test('below a prefix of a host’s scope that has one itself', async (t) => {
    const host = await startPortalHost(t, { scope: '/v2', prefix: '/hooks' })
    await host.addWebhook()
    const { page, errors } = await visit(browser, await host.createSession())
    t.equal(new URL(page.url()).pathname, '/v2/hooks/portal/')
    await rename(page, 'Below')
    t.same(await storedNames(host), ['Below'])
    t.same(errors, [])
  })

  await t.test('behind a proxy that rewrites the path', async (t) => {
    const host = await startPortalHost(t)
    await host.addWebhook()
    const proxy = await startRewritingProxy(t, `${host.origin}/api/v1/public/`)
    const { hash } = new URL(await host.createSession())
    const { page, errors } = await visit(browser, `${proxy}portal/${hash}`)
    await rename(page, 'Behind')
    t.same(await storedNames(host), ['Behind'])
    t.same(errors, [])
  })

  await t.test('in a frame of another site that is listed, under helmet', async (t) => {
    const origin = await startSite(t, { '/': () => framePage(host.portalUrl), '/session': () => host.createSession() })
    const host = await startPortalHost(t, { portal: { frameAncestors: [origin] } })
    await host.addWebhook()
    const { page, errors } = await visit(browser, `${origin}/`)
    await rename(page.frameLocator('iframe'), 'Framed')
    t.same(await storedNames(host), ['Framed'])
    t.same(errors, [])
  })

  await t.test('in no frame of a site that is not listed, and in no frame at all by default', async (t) => {
    const listed = await startSite(t, { '/': () => framePage(`${stranger}/`) })
    const stranger = await startSite(t, { '/': () => framePage(host.portalUrl) })
    const host = await startPortalHost(t, { portal: { frameAncestors: [listed, 'self'] } })
    const byDefault = await startPortalHost(t, { before: (app) => app.get('/settings', (_request, reply) => reply.type('text/html').send(framePage(byDefault.portalUrl))) })
    for (const url of [`${stranger}/`, `${listed}/`, `${byDefault.origin}/settings`]) await seeRefusal(await visit(browser, url))
    t.notOk([...host.requests, ...byDefault.requests].some(({ url }) => url.includes('/assets/')), 'nothing of it ran')
  })

  await t.test('as an element of the host’s page, under a strict policy, beside the host’s styles', async (t) => {
    const host = await startPortalHost(t, { before: (app) => elementPages(app, () => host.createSession()) })
    await host.addWebhook()
    const { page, errors } = await visit(browser, `${host.origin}/settings`)
    await page.getByRole('link', { name: 'CRM sync' }).waitFor()
    const styleOf = (element: string): Promise<unknown> => page.evaluate(`(({ fontSize, textTransform, textAlign, letterSpacing, whiteSpace }) => (
      { fontSize, textTransform, textAlign, letterSpacing, whiteSpace }
    ))(getComputedStyle(${element}))`)
    t.strictSame(await styleOf('document.querySelector("recruiting-webhooks").shadowRoot.querySelector("h1")'), {
      fontSize: '24px', textTransform: 'none', textAlign: 'start', letterSpacing: '-0.36px', whiteSpace: 'normal'
    })
    t.strictSame(await styleOf('document.querySelector("h1")'), {
      fontSize: '80px', textTransform: 'uppercase', textAlign: 'center', letterSpacing: '3px', whiteSpace: 'pre'
    })
    await rename(page, 'Element')
    t.same(await storedNames(host), ['Element'])
    t.equal(await page.evaluate('location.href'), `${host.origin}/settings`, 'the address is the host’s')
    t.same(errors, [])
  })
})

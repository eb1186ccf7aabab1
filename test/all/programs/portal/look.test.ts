import type { BrowserContextOptions, FrameLocator, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import type { PortalMessages } from '../../../../src/index.js'
import type { PortalSessionFields } from '../../../../src/around/portal/session.js'
import { en } from '../../../../src/around/portal/messages.js'
import { findViolations } from '../../../fixtures/browser/axe.js'
import { becomes } from '../../../fixtures/browser/becomes.js'
import { noBrowser, startBrowser, visit, type Visit } from '../../../fixtures/browser/browser.js'
import { type PortalHost, startPortalHost } from '../../../fixtures/browser/portal-host.js'
import { elementPages, framePage, startRewritingProxy, startSite } from '../../../fixtures/browser/portal-sites.js'

/** Only the title is translated. */
const ar: PortalMessages = { ...en, shell: { ...en.shell, title: 'خطافات الويب' } }

function doesScrollSideways (page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > innerWidth')
}

async function goTo (page: Page, route: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(route)}`)
}

/** Checks the list and the webhook's page. */
async function assertAccessible (t: Test, { page, errors }: Pick<Visit, 'page' | 'errors'>): Promise<void> {
  await goTo(page, '#/1')
  await page.getByRole('heading', { level: 1, name: 'CRM sync' }).waitFor()
  // From here on, the page's policy blocks the styles that axe adds.
  t.same(errors, [])
  t.same(await findViolations(page), [], 'the webhook')
  await goTo(page, '#/')
  await page.getByRole('link', { name: 'CRM sync' }).waitFor()
  t.same(await findViolations(page), [], 'the list')
}

t.test('the look of the portal', { skip: noBrowser }, async (t) => {
  const browser = await startBrowser(t)

  /** Opens the list of a tenant with one webhook. */
  async function open (
    t: Test, session: Partial<PortalSessionFields>, options: BrowserContextOptions
  ): Promise<Visit & { host: PortalHost }> {
    const host = await startPortalHost(t, { portal: { messages: { ar } } })
    await host.addWebhook()
    const visited = await visit(browser, await host.createSession(session), options)
    await visited.page.getByRole('link', { name: 'CRM sync' }).waitFor()
    return { host, ...visited }
  }

  await t.test('Arabic runs from right to left, URLs from left to right, and axe finds no violations', async (t) => {
    const { page, errors } = await open(t, { locale: 'ar' }, { reducedMotion: 'reduce', viewport: { width: 320, height: 700 } })
    await becomes(t, () => page.evaluate('[document.documentElement.lang, document.documentElement.dir]'), ['ar', 'rtl'])
    t.equal(await page.getByRole('heading', { level: 1 }).innerText(), ar.shell.title)
    t.match(await page.getByRole('listitem').getByText('https://hooks.example.com').getAttribute('dir'), 'ltr')
    t.notOk(await doesScrollSideways(page))
    await page.setViewportSize({ width: 1280, height: 800 })
    const isNameOnTheRight = async (): Promise<boolean> => {
      const [name, status] = await Promise.all([page.getByRole('link', { name: 'CRM sync' }), page.getByText('Active')].map((text) => text.boundingBox()))
      return (name?.x ?? NaN) > (status?.x ?? NaN)
    }
    await becomes(t, isNameOnTheRight, true, 'the name is on the right of the status')
    await assertAccessible(t, { page, errors })
  })

  await t.test(
    'texts that fail to load are requested again, and a session in another language replaces them',
    async (t) => {
      const host = await startPortalHost(t)
      await host.addWebhook()
      const { page } = await visit(browser, 'about:blank')
      await page.route(/assets\/.*\.json$/, (route) => route.abort())
      await page.goto(await host.createSession({ locale: 'en' }))
      await page.getByRole('alert').filter({ hasText: 'This page could not be loaded' }).waitFor()
      await page.unroute(/assets\/.*\.json$/)
      await page.getByRole('link', { name: 'Add webhook' }).waitFor()
      await page.goto(await host.createSession({ locale: 'de' }))
      await page.getByRole('link', { name: 'Webhook hinzufügen' }).waitFor()
    }
  )

  await t.test('with reduced motion nothing moves, and with forced colours each status has a border', async (t) => {
    const { page } = await open(t, {}, { reducedMotion: 'no-preference', forcedColors: 'active' })
    await page.route('**/webhooks/1', () => {})
    await goTo(page, '#/1')
    const moving = 'document.querySelector("recruiting-webhooks").shadowRoot.getAnimations().length'
    await becomes(t, () => page.evaluate(`${moving} > 0`), true)
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await becomes(t, () => page.evaluate(moving), 0)
    await goTo(page, '#/')
    await page.getByText('Active').waitFor()
    t.equal(await page.evaluate('getComputedStyle(document.querySelector("recruiting-webhooks").shadowRoot.querySelector(".status")).borderTopStyle'), 'solid')
    t.same(await findViolations(page), [])
  })
})

/** Renames the listed webhook, which needs the script, the style, reads and a change. */
async function rename (portal: Page | FrameLocator, name: string): Promise<void> {
  await portal.getByRole('link', { name: 'CRM sync' }).click()
  await portal.getByRole('link', { name: 'Edit' }).click()
  await portal.getByLabel('Name').fill(name)
  await portal.getByRole('button', { name: 'Save changes' }).click()
  await portal.getByRole('heading', { level: 1, name }).waitFor()
}

/** Returns the stored names of the tenant's webhooks. */
async function storedNames ({ recruiting }: PortalHost): Promise<string[]> {
  const { data } = await recruiting.webhooks.list('acme', {})
  return data.map(({ name }) => name)
}

/** Waits until the browser reports that it blocked a frame. */
async function waitUntilBlocked ({ page, errors }: Visit): Promise<void> {
  while (!errors.some((error) => error.includes('frame-ancestors'))) await page.waitForEvent('console')
}

t.test('the portal in a host', { skip: noBrowser }, async (t) => {
  const browser = await startBrowser(t)

  await t.test('as a page, under helmet, it loads four files before it calls the API, with the texts of one language', async (t) => {
    const host = await startPortalHost(t)
    await host.addWebhook()
    const { page, errors, strayRequests } = await visit(browser, await host.createSession())
    await page.getByRole('link', { name: 'CRM sync' }).waitFor()
    const urls = host.requests.map(({ url }) => url)
    const first = urls.findIndex((url) => url.startsWith('/api/v1/public/acme/'))
    const files = urls.slice(0, first).map((url) => url.replace(/^\/api\/v1\/public\/|-[\da-f]{16}/g, ''))
    t.same(files.sort(), [
      'portal/', 'portal/assets/portal-en.json', 'portal/assets/portal.css', 'portal/assets/portal.js'
    ])
    await rename(page, 'Alone')
    t.same(await storedNames(host), ['Alone'])
    t.same([errors, strayRequests], [[], []])
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

  await t.test('only in frames of listed sites, and in none by default', async (t) => {
    const listed = await startSite(t, { '/': () => framePage(`${stranger}/`) })
    const stranger = await startSite(t, { '/': () => framePage(host.portalUrl) })
    const host = await startPortalHost(t, { portal: { frameAncestors: [listed, 'self'] } })
    const byDefault = await startPortalHost(t, { before: (app) => app.get('/settings', (_request, reply) => reply.type('text/html').send(framePage(byDefault.portalUrl))) })
    for (const url of [`${stranger}/`, `${listed}/`, `${byDefault.origin}/settings`]) await waitUntilBlocked(await visit(browser, url))
    t.notOk([...host.requests, ...byDefault.requests].some(({ url }) => url.includes('/assets/')), 'no asset was requested')
  })

  await t.test('as an element on the host’s page, under a strict policy, next to the host’s styles', async (t) => {
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
    t.equal(await page.evaluate('location.href'), `${host.origin}/settings`, 'the URL does not change')
    t.same(errors, [])
  })
})

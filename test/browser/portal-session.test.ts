import type { Frame, FrameLocator, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { noBrowser, startBrowser, visit } from '../fixtures/browser/browser.js'
import { type PortalHost, startPortalHost } from '../fixtures/browser/portal-host.js'
import { elementPages, framePage, startSite } from '../fixtures/browser/portal-sites.js'

/** Opens the form of the webhook, and changes its name. */
async function fillForm (portal: Page | FrameLocator, name: string): Promise<void> {
  await portal.getByRole('link', { name: 'CRM sync' }).click()
  await portal.getByRole('link', { name: 'Edit' }).click()
  await portal.getByLabel('Name').fill(name)
}

async function save (portal: Page | FrameLocator): Promise<void> {
  await portal.getByRole('button', { name: 'Save changes' }).click()
}

/** Waits for the webhook's own page. */
async function seeSaved (portal: Page | FrameLocator, name: string): Promise<void> {
  await portal.getByRole('heading', { level: 1, name }).waitFor()
}

/** The status of each change that the API was asked for. */
function changes ({ audit }: PortalHost): number[] {
  return audit.filter(({ method }) => method === 'PATCH').map(({ status }) => status)
}

/** A page with the portal in a frame, and a host that lists its origin. */
async function startFramed (t: Test) {
  const origin = await startSite(t, {
    '/': async () => framePage(await host.createSession()),
    '/session': () => host.createSession({ actor: 'user:18' }),
    '/sibling': () => '<title>Sibling</title>'
  })
  const host = await startPortalHost(t, { portal: { frameAncestors: [origin] } })
  await host.addWebhook()
  return { host, origin }
}

const isRefused = (error: string): boolean => error.includes('401')

t.test('the session of the portal', { skip: noBrowser }, async (t) => {
  const browser = await startBrowser(t)

  await t.test('in a frame, it ends in the middle of a form: the embedding page gives another, and the form is saved', async (t) => {
    const { host, origin } = await startFramed(t)
    const { page, errors } = await visit(browser, `${origin}/`)
    const portal = page.frameLocator('iframe')
    await fillForm(portal, 'Kept')
    await host.endSessions()
    await save(portal)
    await seeSaved(portal, 'Kept')
    t.same(changes(host), [401, 200])
    t.equal(host.audit.at(-1)?.actor, 'user:18')
    t.same(errors.filter((error) => !isRefused(error)), [])
  })

  await t.test('in a frame, messages of other windows and origins are ignored', async (t) => {
    const { host, origin } = await startFramed(t)
    const { page, errors } = await visit(browser, `${origin}/`)
    const portal = page.frameLocator('[title=Webhooks]')
    await portal.getByRole('link', { name: 'CRM sync' }).waitFor()
    const [, frame] = page.frames() as [Frame, Frame]
    await page.evaluate('document.body.append(Object.assign(document.createElement("iframe"), { src: "/sibling" }))')
    const sibling = page.frame({ url: `${origin}/sibling` }) ?? await page.waitForEvent('framenavigated')
    const session = async (actor: string): Promise<string> => JSON.stringify({ type: 'recruiting-webhooks:session', url: await host.createSession({ actor }) })

    await frame.evaluate('globalThis.arrived = 0; addEventListener("message", () => { arrived++ }); null')
    await sibling.evaluate(`parent.frames[0].postMessage(${await session('mallory')}, '*')`)
    await frame.evaluate(`postMessage(${await session('mallory')})`)
    await frame.evaluate(`dispatchEvent(new MessageEvent('message', { source: parent, origin: 'https://mallory.example', data: ${await session('mallory')} }))`)
    await page.evaluate('for (const data of [null, "text", { type: "recruiting-webhooks:session", url: 5 }]) frames[0].postMessage(data, "*")')
    await frame.waitForFunction('arrived === 6')
    await fillForm(portal, 'Untouched')
    t.same([...new Set(host.audit.map(({ actor }) => actor))], ['user:17'])

    await page.evaluate(`frames[0].postMessage(${await session('user:19')}, '*')`)
    await save(portal)
    await seeSaved(portal, 'Untouched')
    t.equal(host.audit.at(-1)?.actor, 'user:19', 'one of the embedding page is taken')
    t.same(errors, [])
  })

  await t.test('as an element, it ends in the middle of a form: the page sets src anew, and the form is saved', async (t) => {
    const host = await startPortalHost(t, { before: (app) => elementPages(app, () => host.createSession()) })
    await host.addWebhook()
    const { page, errors } = await visit(browser, `${host.origin}/settings`)
    await fillForm(page, 'Kept')
    t.equal(await page.evaluate('document.querySelector("recruiting-webhooks").getAttribute("src")'), null, 'src is taken out of the document')
    await host.endSessions()
    await save(page)
    await seeSaved(page, 'Kept')
    t.same(changes(host), [401, 200])
    t.same(errors.filter((error) => !isRefused(error)), [])
  })

  await t.test('as a page, it ends in the middle of a form: a link leads back, and a session in the address saves the form', async (t) => {
    const host = await startPortalHost(t, { before: (app) => app.get('/settings', (_request, reply) => reply.type('text/html').send('<title>Settings</title>')) })
    await host.addWebhook()
    const { page, errors } = await visit(browser, await host.createSession({ returnUrl: `${host.origin}/settings` }))
    await fillForm(page, 'Kept')
    await host.endSessions()
    await save(page)
    const notice = page.getByRole('alert').filter({ hasText: 'Your session has ended' })
    const [settings] = await Promise.all([page.context().waitForEvent('page'), notice.getByRole('link').click()])
    await settings.waitForURL(`${host.origin}/settings`)
    await settings.close()
    t.equal(host.requests.find(({ url }) => url === '/settings')?.headers.referer, undefined)

    t.equal(await page.getByLabel('Name').inputValue(), 'Kept')
    await page.goto(await host.createSession())
    await seeSaved(page, 'Kept')
    t.same(changes(host), [401, 200])
    t.notMatch(page.url(), 'rps.')
    t.same(errors.filter((error) => !isRefused(error)), [])
  })

  await t.test('its token is in memory alone, and leaves it only towards the API', async (t) => {
    const host = await startPortalHost(t)
    await host.addWebhook()
    const url = await host.createSession()
    const token = new URLSearchParams(new URL(url).hash.slice(1)).get('token') ?? ''
    const { page, errors } = await visit(browser, url)
    await fillForm(page, 'Secret')
    await save(page)
    await seeSaved(page, 'Secret')
    const seen = await page.evaluate(`JSON.stringify([
      location.href, history.state, document.cookie, { ...localStorage }, { ...sessionStorage }, document.referrer, document.title,
      document.documentElement.outerHTML, document.querySelector('recruiting-webhooks').shadowRoot.innerHTML
    ])`)
    t.notMatch(seen, token)
    await page.evaluate('history.go(-2)')
    await page.getByRole('link', { name: 'Secret' }).waitFor()
    t.match(page.url(), /portal\/#\/$/, 'the first entry of the history has none')

    const leaks = host.requests.filter(({ url, headers: { authorization, ...headers } }) => {
      const isForApi = url.startsWith('/api/v1/public/acme/')
      return authorization !== (isForApi ? `Bearer ${token}` : undefined) || headers.referer !== undefined || `${url} ${JSON.stringify(headers)}`.includes(token)
    })
    t.same(leaks, [])
    await page.reload()
    await page.getByText('Open this page from your settings').waitFor()
    t.same(errors, [])
  })

  await t.test('offline, a change fails and the form stays; back online, it is saved, and lists load by themselves', async (t) => {
    const host = await startPortalHost(t)
    await host.addWebhook()
    const { page } = await visit(browser, await host.createSession())
    await fillForm(page, 'Kept')
    await page.context().setOffline(true)
    await page.getByText('You are offline').waitFor()
    await save(page)
    await page.getByText('The service cannot be reached').waitFor()
    t.equal(await page.getByLabel('Name').inputValue(), 'Kept')
    await page.context().setOffline(false)
    await page.getByText('You are offline').waitFor({ state: 'hidden' })
    await save(page)
    await seeSaved(page, 'Kept')
    t.same(changes(host), [200])

    await page.context().setOffline(true)
    await page.getByRole('link', { name: 'Webhooks' }).click()
    await page.getByText('The service cannot be reached').waitFor()
    await page.context().setOffline(false)
    await page.getByRole('link', { name: 'Kept' }).waitFor()
  })
})

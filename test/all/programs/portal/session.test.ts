import type { Frame, FrameLocator, Locator, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { becomes } from '../../../fixtures/browser/becomes.js'
import { noBrowser, startBrowser, startKeepingBrowser, visit } from '../../../fixtures/browser/browser.js'
import { type PortalHost, startPortalHost } from '../../../fixtures/browser/portal-host.js'
import { framePage, startSite } from '../../../fixtures/browser/portal-sites.js'

/** Opens the webhook's form, and changes the name. */
async function fillForm (portal: Page | FrameLocator, name: string): Promise<void> {
  await portal.getByRole('link', { name: 'CRM sync' }).click()
  await portal.getByRole('link', { name: 'Edit' }).click()
  await portal.getByLabel('Name').fill(name)
}

async function save (portal: Page | FrameLocator): Promise<void> {
  await portal.getByRole('button', { name: 'Save changes' }).click()
}

/** Waits for the webhook's page. */
async function waitUntilSaved (portal: Page | FrameLocator, name: string): Promise<void> {
  await portal.getByRole('heading', { level: 1, name }).waitFor()
}

/** Returns whether the whole element is in the window. */
async function isInView (element: Locator): Promise<boolean> {
  const { y, height } = await element.boundingBox() ?? { y: NaN, height: NaN }
  return y >= 0 && y + height <= Number(await element.page().evaluate('innerHeight'))
}

/** Returns the status of each PATCH request. */
function changes ({ audit }: PortalHost): Array<number | null> {
  return audit.filter(({ method }) => method === 'PATCH').map(({ status }) => status)
}

/** Returns the status of the first rejected request, possibly one by the page itself, and of the last change. */
function renewal (host: PortalHost): Array<number | null | undefined> {
  return [host.audit.find(({ status }) => status !== 200)?.status, changes(host).at(-1)]
}

/** Returns everything that a page shows and stores. */
const contentOf = (page: Page): Promise<string> => page.evaluate(`JSON.stringify([
  location.href, history.state, document.cookie, { ...localStorage }, { ...sessionStorage }, document.referrer, document.title,
  document.documentElement.outerHTML, document.querySelector('recruiting-webhooks').shadowRoot.innerHTML
])`)

/** Starts a site with the portal in a frame. Its sessions belong to user:17, user:18, … */
async function startFramed (t: Test) {
  let sessions = 0
  const origin = await startSite(t, {
    '/': () => framePage(host.portalUrl),
    '/session': () => host.createSession({ actor: `user:${17 + sessions++}` }),
    '/sibling': () => '<title>Sibling</title>'
  })
  const host = await startPortalHost(t, { portal: { frameAncestors: [origin] } })
  await host.addWebhook()
  return { host, origin }
}

const isUnauthorized = (error: string): boolean => error.includes('401')

t.test('the session of the portal', { skip: noBrowser }, async (t) => {
  const browser = await startBrowser(t)

  await t.test('if the session ends in a form in a frame, the embedding page sends a new one, and the form is saved', async (t) => {
    const { host, origin } = await startFramed(t)
    const { page, errors } = await visit(browser, `${origin}/`)
    const portal = page.frameLocator('iframe')
    await fillForm(portal, 'Kept')
    for (const frame of page.frames()) {
      t.notMatch(await frame.evaluate('location.href + document.documentElement.outerHTML + JSON.stringify(performance.getEntries())'), 'rps.')
    }
    await host.endSessions()
    await save(portal)
    await waitUntilSaved(portal, 'Kept')
    await becomes(t, () => renewal(host), [401, 200])
    await becomes(t, () => host.audit.at(-1)?.actor, 'user:18')
    t.same(errors.filter((error) => !isUnauthorized(error)), [])
  })

  await t.test('a frame ignores messages from other windows and origins', async (t) => {
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
    await becomes(t, () => frame.evaluate('arrived'), 6, 'the messages have arrived')
    await fillForm(portal, 'Untouched')
    t.same([...new Set(host.audit.map(({ actor }) => actor))], ['user:17'])

    await page.evaluate(`frames[0].postMessage(${await session('user:19')}, '*')`)
    await becomes(t, () => frame.evaluate('arrived'), 7, 'the messages have arrived')
    await save(portal)
    await waitUntilSaved(portal, 'Untouched')
    await becomes(t, () => host.audit.at(-1)?.actor, 'user:19', 'the message of the embedding page counts')
    t.same(errors, [])
  })

  await t.test("another tenant's session in the URL replaces the current one only after a confirmation", async (t) => {
    const host = await startPortalHost(t)
    await host.addWebhook()
    await host.recruiting.webhooks.create('globex', { name: 'Theirs', target_url: 'https://hooks.example.com/', event_types: ['job.created'] })
    const { page, errors } = await visit(browser, await host.createSession())
    await fillForm(page, 'Kept')
    const other = JSON.stringify(new URL(await host.createSession({ tenantSlug: 'globex' })).hash)
    await page.evaluate(`location.hash = ${other}`)
    await page.getByRole('dialog').filter({ hasText: 'globex' }).getByRole('button', { name: 'Stay' }).click()
    t.notMatch(page.url(), 'rps.')
    await save(page)
    await waitUntilSaved(page, 'Kept')
    t.same(host.audit.filter(({ tenantSlug }) => tenantSlug !== 'acme'), [])
    await page.evaluate(`location.hash = ${other}`)
    await page.getByRole('button', { name: 'Switch' }).click()
    await page.getByRole('link', { name: 'Theirs' }).waitFor()
    t.same(errors, [])
  })

  await t.test('the Back button restores neither a secret nor the session', async (t) => {
    const host = await startPortalHost(t, { before: (app) => app.get('/settings', (_request, reply) => reply.type('text/html').send('<title>Settings</title>')) })
    const { page } = await visit(await startKeepingBrowser(t), await host.createSession())
    page.on('dialog', (dialog) => dialog.accept())
    await page.getByRole('link', { name: 'Add webhook' }).click()
    await page.getByLabel('Name').fill('CRM sync')
    await page.getByLabel('Endpoint URL').fill('https://hooks.example.com/')
    await page.getByRole('checkbox', { name: 'job.created' }).check()
    await page.getByRole('button', { name: 'Create webhook' }).click()
    await page.getByText(/^whsec_/).waitFor()
    await page.evaluate('globalThis.isKept = true')
    await page.goto(`${host.origin}/settings`)
    await page.evaluate('setTimeout(() => history.back())')
    await page.getByText('Open this page from your settings').waitFor()
    t.equal(await page.evaluate('globalThis.isKept'), true, 'the browser has kept the page')
    t.notMatch(await contentOf(page), /whsec_|rps\./)
  })

  await t.test('if the session ends in a form on our page, a link leads back, and a new session in the URL saves the form', async (t) => {
    const host = await startPortalHost(t, { before: (app) => app.get('/settings', (_request, reply) => reply.type('text/html').send('<title>Settings</title>')) })
    await host.addWebhook()
    const { page, errors } = await visit(browser, await host.createSession({ returnUrl: '/settings' }))
    await fillForm(page, 'Kept')
    await host.endSessions()
    await save(page)
    const notice = page.getByRole('alert').filter({ hasText: 'Your session has ended' })
    await notice.waitFor()
    const button = page.getByRole('button', { name: 'Save changes' })
    await page.setViewportSize({ width: 800, height: 480 })
    await button.scrollIntoViewIfNeeded()
    await becomes(t, () => isInView(page.getByLabel('Name')), false, 'the page is scrolled')
    await becomes(t, () => isInView(notice), true, 'the notice is in view next to the pressed button')
    const [settings] = await Promise.all([page.context().waitForEvent('page'), notice.getByRole('link').click()])
    await settings.waitForURL(`${host.origin}/settings`)
    await settings.close()
    t.same(host.requests.filter(({ url }) => url === '/settings').map(({ headers }) => headers.referer), [undefined])

    t.equal(await page.getByLabel('Name').inputValue(), 'Kept')
    await page.goto(await host.createSession())
    await waitUntilSaved(page, 'Kept')
    await becomes(t, () => renewal(host), [401, 200])
    t.notMatch(page.url(), 'rps.')
    t.same(errors.filter((error) => !isUnauthorized(error)), [])
  })

  await t.test('the token is kept only in memory, and sent only to the API', async (t) => {
    const host = await startPortalHost(t)
    await host.addWebhook()
    const url = await host.createSession()
    const token = new URLSearchParams(new URL(url).hash.slice(1)).get('token') ?? ''
    const { page, errors } = await visit(browser, url)
    await fillForm(page, 'Secret')
    await save(page)
    await waitUntilSaved(page, 'Secret')
    t.notMatch(await contentOf(page), token)
    await page.evaluate('history.go(-2)')
    await page.getByRole('link', { name: 'Secret' }).waitFor()
    await becomes(t, () => page.url(), /portal\/#\/$/, 'the first history entry has no token')

    const leaks = host.requests.filter(({ url, headers: { authorization, ...headers } }) => {
      const isForApi = url.startsWith('/api/v1/public/acme/')
      return authorization !== (isForApi ? `Bearer ${token}` : undefined) || headers.referer !== undefined || `${url} ${JSON.stringify(headers)}`.includes(token)
    })
    t.same(leaks, [])
    await page.reload()
    await page.getByText('Open this page from your settings').waitFor()
    t.same(errors, [])
  })

  await t.test('offline, a change fails and the form stays; online again, it is saved, and lists load automatically', async (t) => {
    const host = await startPortalHost(t)
    await host.addWebhook()
    const { page } = await visit(browser, await host.createSession())
    await fillForm(page, 'Kept')
    await page.context().setOffline(true)
    await page.getByText('You are offline').waitFor()
    await save(page)
    await page.locator('form').getByRole('alert').filter({ hasText: 'You are offline' }).waitFor()
    t.equal(await page.getByLabel('Name').inputValue(), 'Kept')
    await page.context().setOffline(false)
    await page.getByText('You are offline').first().waitFor({ state: 'hidden' })
    await save(page)
    await waitUntilSaved(page, 'Kept')
    await becomes(t, () => changes(host), [200])

    await page.context().setOffline(true)
    await page.getByRole('navigation', { name: 'Back' }).getByRole('link').click()
    await page.getByRole('heading', { name: 'You are offline' }).waitFor()
    await page.context().setOffline(false)
    await page.getByRole('link', { name: 'Kept' }).waitFor()
  })
})

import type { BrowserContextOptions, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import type { PortalMessages, PortalSessionInput } from '../../src/index.js'
import { en } from '../../src/portal/messages/en.js'
import { findViolations } from '../fixtures/browser/axe.js'
import { becomes } from '../fixtures/browser/becomes.js'
import { type Visit, noBrowser, startBrowser, visit } from '../fixtures/browser/browser.js'
import { type PortalHost, startPortalHost } from '../fixtures/browser/portal-host.js'

/** Arabic enough: only the title is translated. */
const ar: PortalMessages = { ...en, shell: { ...en.shell, title: 'خطافات الويب' } }

/** Names and the way they are shown. */
const names = {
  '<img src=x onerror="hacked = 1"><script>hacked = 1</script>': '<img src=x onerror="hacked = 1"><script>hacked = 1</script>',
  '\'"><svg onload=hacked=1>&lt;b&gt;&amp; {name} {count} {{7*7}}': '\'"><svg onload=hacked=1>&lt;b&gt;&amp; {name} {count} {{7*7}}',
  'Pay\u202Elor \u2066gnp.exe': 'Pay\\u202elor \\u2066gnp.exe',
  'خدمة الرواتب (CRM)': 'خدمة الرواتب (CRM)',
  ['W'.repeat(255)]: 'W'.repeat(255),
  [`e${'\u0301'.repeat(200)}`]: `e${'\u0301'.repeat(200)}`
}

const urls = [
  'https://hooks.example.com/"><script>hacked=1</script>?q=\'"&amp;<svg/onload=hacked=1>',
  `https://hooks.example.com/${'w'.repeat(2000)}`,
  'https://xn--mgbh0fb.example/'
]

function doesScrollSideways (page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > innerWidth')
}

async function goTo (page: Page, route: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(route)}`)
}

/** Looks at the list and at the webhook's own page. */
async function seeNoFaults (t: Test, { page, errors }: Pick<Visit, 'page' | 'errors'>): Promise<void> {
  await goTo(page, '#/1')
  await page.getByRole('heading', { level: 1, name: 'CRM sync' }).waitFor()
  // From here on, the page's policy refuses styles that axe adds for itself.
  t.same(errors, [])
  t.same(await findViolations(page), [], 'the webhook')
  await goTo(page, '#/')
  await page.getByRole('link', { name: 'CRM sync' }).waitFor()
  t.same(await findViolations(page), [], 'the list')
}

t.test('the look of the portal', { skip: noBrowser }, async (t) => {
  const browser = await startBrowser(t)

  /** Opens the list of a tenant with one webhook. */
  async function open (t: Test, session: Partial<PortalSessionInput>, options: BrowserContextOptions): Promise<Visit & { host: PortalHost }> {
    const host = await startPortalHost(t, { portal: { messages: { ar } } })
    await host.addWebhook()
    const visited = await visit(browser, await host.createSession(session), options)
    await visited.page.getByRole('link', { name: 'CRM sync' }).waitFor()
    return { host, ...visited }
  }

  await t.test('Arabic goes from right to left, addresses from left to right, and axe finds nothing in the dark', async (t) => {
    const { page, errors } = await open(t, { locale: 'ar' }, { colorScheme: 'dark', viewport: { width: 320, height: 700 } })
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
    await seeNoFaults(t, { page, errors })
  })

  await t.test('German is built in, and axe finds nothing in the light', async (t) => {
    const { page, errors } = await open(t, { locale: 'de-AT' }, { colorScheme: 'light', viewport: { width: 1280, height: 800 } })
    await becomes(t, () => page.evaluate('document.documentElement.lang'), 'de-AT')
    await page.getByRole('link', { name: 'Webhook hinzufügen' }).waitFor()
    await seeNoFaults(t, { page, errors })
  })

  await t.test('texts that do not arrive are asked for again, and a session in another language changes them', async (t) => {
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
  })

  await t.test('with reduced motion nothing moves, and forced colours leave each status a border', async (t) => {
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

  await t.test('hostile names and addresses are text, and break no layout', async (t) => {
    const host = await startPortalHost(t)
    const shown = new Map<number, string>()
    for (const [index, [name, text]] of Object.entries(names).entries()) shown.set(await host.addWebhook(name, urls[index % urls.length]), text)
    const { page, errors } = await visit(browser, await host.createSession(), { viewport: { width: 320, height: 700 } })
    for (const text of shown.values()) await page.getByRole('link', { name: text, exact: true }).waitFor()
    t.notOk(await doesScrollSideways(page), 'the list')
    const wide: string[] = []
    for (const [id, text] of shown) {
      await goTo(page, `#/${id}`)
      await page.getByRole('heading', { level: 1, name: text, exact: true }).waitFor()
      if (await doesScrollSideways(page)) wide.push(text)
      await page.getByRole('button', { name: 'Delete' }).click()
      await page.getByRole('dialog').filter({ hasText: text }).waitFor()
      if (await doesScrollSideways(page)) wide.push(`${text}, with the dialog`)
      await page.keyboard.press('Escape')
    }
    t.same(wide, [])
    t.equal(await page.locator('recruiting-webhooks').locator('img, script').count(), 0)
    t.equal(await page.evaluate('typeof hacked'), 'undefined')
    t.same(errors, [])
  })
})

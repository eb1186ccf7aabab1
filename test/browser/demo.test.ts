import axe from 'axe-core'
import type { Locator, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { type RunningExample, runExample } from '../examples/fixtures/run-example.js'
import { noBrowser, startBrowser, visit } from '../fixtures/browser.js'

const wide = { width: 1360, height: 900 }
const narrow = { width: 390, height: 844 }

async function openDemo (t: Test): Promise<{ url: string, demo: RunningExample }> {
  // Nothing happens by itself while the test looks.
  const demo = runExample(t, 'demo/start.ts', { PORT: '0', RECEIVER_PORT: '0', EVERY_MS: '99999' })
  const [, url = ''] = await demo.output(/Open this +(http:\/\/127\.0\.0\.1:\d+\/)/)
  await demo.output(/receiver +acme +application\.created +verified/)
  return { url, demo }
}

function pressIn (page: Page, name: string): Promise<void> {
  return page.getByRole('button', { name }).first().click()
}

/** The lines of the inbox with all of these texts; waits for one. */
async function line (page: Page, ...texts: string[]): Promise<Locator> {
  const lines = texts.reduce((found, text) => found.filter({ hasText: text }), page.locator('#inbox > li'))
  await lines.first().waitFor()
  return lines
}

/** Waits until an element has the text. */
function says (page: Page, selector: string, text: string | RegExp): Promise<void> {
  return page.locator(selector).filter({ hasText: text }).first().waitFor()
}

t.test('every button of the demo page does what it says', { skip: noBrowser, timeout: 280_000 }, async (t) => {
  const { url, demo } = await openDemo(t)
  const { page, strayRequests, errors } = await visit(await startBrowser(t), url, { viewport: wide })
  const names = page.locator('#rows tbody th')
  const choice = page.locator('#filters [name=choice]')

  await t.test('a search shows those whose names have the text', async (t) => {
    await says(page, '#feed-state', 'live')
    await says(page, '#range', /^1 to 8 of 32\d$/)
    await page.getByLabel('Search').fill('élodie')
    await says(page, '#range', /^1 to \d of \d$/)
    const found = await names.allTextContents()
    t.ok(found.length >= 3)
    t.ok(found.every((name) => name.startsWith('Élodie ')))
    await says(page, '#list-request', 'filter[q]=élodie')
    await page.getByLabel('Search').fill('nobody at all')
    await says(page, '#rows-empty', 'Nothing matches')
    await page.getByLabel('Search').fill('')
  })

  await t.test('filters, sorts and pages are those of the API', async (t) => {
    await choice.selectOption('12')
    await says(page, '#list-request', 'filter[recruiter_id]=12')
    await page.locator('#filters [name=sort]').selectOption('full_name')
    await says(page, '#list-request', 'sort=full_name')
    const first = await names.first().textContent()
    await pressIn(page, 'Next')
    await says(page, '#range', /^9 to 16 of /)
    t.not(await names.first().textContent(), first)
    await pressIn(page, 'Previous')
    await says(page, '#range', /^1 to 8 of /)
    await pressIn(page, 'Jobs')
    await choice.selectOption('published')
    await says(page, '#list-request', '/jobs?page=1&per_page=8&sort=-updated_at&filter[status]=published')
    const statuses = await page.locator('#rows .chip').allTextContents()
    t.ok(statuses.length > 1 && statuses.every((status) => status === 'published'))
    await pressIn(page, 'Candidates')
  })

  await t.test('a new application arrives, verified, and its candidate is in the list', async (t) => {
    await pressIn(page, 'New application')
    await says(page, '#news', 'is new here')
    const news = await page.locator('#news').textContent() ?? ''
    await line(page, 'application.created', 'verified', 'attempt', '204 in')
    await says(page, '#rows tbody th', news.slice(0, news.indexOf(' is new')))
    await says(page, '#legend .good', /^[1-9]\d* delivered/)
    t.match(await page.locator('#chart svg').getAttribute('aria-label'), /[1-9]\d* delivered/)
  })

  await t.test('a hire is told of, and so is its job', async () => {
    await pressIn(page, 'Hire somebody')
    await says(page, '#news', 'is hired')
    await line(page, 'application.hired', 'verified', '204 in')
    await line(page, 'job.closed', 'verified', '204 in')
  })

  await t.test('a forged delivery is refused', async (t) => {
    await pressIn(page, 'Forge a delivery')
    await says(page, '#news', 'answered 401')
    const forged = await line(page, 'not verified', '401')
    t.equal(await forged.count(), 1)
  })

  await t.test('a webhook is created with its secret, and takes a test', async () => {
    await pressIn(page, 'New webhook')
    await page.getByLabel('Name', { exact: true }).fill('Payroll')
    await page.getByLabel('Events').selectOption({ label: 'Hires only' })
    await pressIn(page, 'Create webhook')
    await says(page, '#webhooks li', /Payroll.*active.*application\.hired.*Its secret, shown this once: whsec_/s)
    await pressIn(page, 'Send a test Payroll')
    await says(page, '#webhooks .note', /^Delivered: 204 in \d+ ms/)
    await line(page, 'application.hired', 'verified', 'test')
  })

  await t.test('each of several webhooks gets its own delivery, until it is deleted', async (t) => {
    await pressIn(page, 'Hire somebody')
    await line(page, 'application.hired', 'to Payroll', 'verified', '204 in')
    await line(page, 'application.hired', 'to Demo receiver', 'verified', '204 in')
    await pressIn(page, 'Delete Payroll')
    await page.locator('#webhooks li').filter({ hasText: 'Payroll' }).waitFor({ state: 'detached' })
    await says(page, '#webhook-request', /DELETE.*204 in/)
    t.equal(await page.locator('#webhooks li').count(), 1)
  })

  await t.test('while a rotated secret lasts there are two signatures', async () => {
    await pressIn(page, 'Rotate secret Demo receiver')
    await says(page, '#webhooks .note', /^The new secret, shown this once: whsec_/)
    await pressIn(page, 'New application')
    await line(page, 'application.created', 'verified, 2 signatures', '204 in')
  })

  await t.test('what a paused webhook misses is brought by a replay', async () => {
    await pressIn(page, 'Pause Demo receiver')
    await says(page, '#webhooks li', /Demo receiver.*paused/s)
    const before = await page.locator('#inbox > li').count()
    await pressIn(page, 'New application')
    await says(page, '#news', 'is new here')
    await pressIn(page, 'Resume Demo receiver')
    await says(page, '#webhooks .note', 'Active again')
    await pressIn(page, 'Replay Demo receiver')
    await says(page, '#webhooks .note', /^2 queued/)
    await page.locator('#inbox > li').nth(before + 1).waitFor()
  })

  await t.test('while the receiver fails deliveries are tried again, and a replay brings what was given up', async () => {
    await pressIn(page, 'Break the receiver')
    await says(page, '#outage', /^Broken for \d+ s$/)
    await pressIn(page, 'New application')
    await line(page, 'application.created', '500 in', 'next attempt')
    await line(page, 'application.created', 'attempt 1', '500 in', 'tried again')
    await line(page, 'application.created', 'attempt 4', 'given up')
    await says(page, '#outage', 'Break the receiver')
    await pressIn(page, 'Replay Demo receiver')
    await says(page, '#webhooks .note', /^2 queued/)
    const [id = ''] = /evt_\w+/.exec(await (await line(page, 'application.created', 'given up')).first().locator('.inside').textContent() ?? '') ?? []
    await line(page, id, 'attempt', '204 in')
  })

  await t.test('a page opened later shows what was before', async (t) => {
    await page.reload()
    await says(page, '#feed-state', 'live')
    await line(page, 'application.created', 'attempt 4', 'given up')
    await line(page, 'not verified', '401')
    await says(page, '#legend .bad', /^[1-9]/)
    const [key, value] = [await page.locator('#legend .bad').textContent(), await page.locator('#chart rect.bad').count()]
    t.match(key, /given up/)
    t.ok(value > 0)
  })

  await t.test('another customer sees nothing of it', async (t) => {
    await pressIn(page, 'globex')
    await says(page, '#list-request', '/api/v1/public/globex/candidates')
    await says(page, '#webhooks li', '/globex')
    t.equal(await page.locator('#webhooks li').count(), 1)
    t.equal(await page.locator('#inbox > li').filter({ hasText: 'given up' }).count(), 0)
    t.match(await page.locator('h2').allTextContents(), ['What globex can read', 'Webhooks of globex', 'Make something happen', 'What globex is told'])
  })

  t.same(strayRequests, [])
  t.same(errors, [])

  await t.test('the demo closes while a page is open, and the page says so', async (t) => {
    t.equal(await demo.end('SIGTERM'), 0)
    await says(page, '#feed-state', 'connection lost')
  })
})

t.test('the demo page is accessible: light and dark, wide and narrow', { skip: noBrowser, timeout: 120_000 }, async (t) => {
  const { url } = await openDemo(t)
  const browser = await startBrowser(t)
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const viewport of [wide, narrow]) {
      const { page } = await visit(browser, url, { colorScheme, viewport, reducedMotion: 'reduce' })
      await says(page, '#feed-state', 'live')
      await pressIn(page, 'Forge a delivery')
      await pressIn(page, 'New webhook')
      await (await line(page, 'not verified')).first().locator('summary').click()
      await line(page, 'attempt 1')
      await page.evaluate(axe.source)
      const { violations, passes } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run())
      t.ok(passes.length > 20)
      t.same(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]), [], `${colorScheme}, ${viewport.width} wide`)
      t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${viewport.width} wide does not scroll sideways`)
      await page.close()
    }
  }
})

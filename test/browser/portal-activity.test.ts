import type { Locator, Page, Route } from 'playwright-core'
import t from 'tap'
import { becomes } from '../fixtures/browser/becomes.js'
import { noBrowser, startBrowser } from '../fixtures/browser/browser.js'
import { auditThemes, installAxe, startPortal } from '../fixtures/browser/portal-page.js'

const phone = { viewport: { width: 360, height: 640 } }
// Values are isolated from the text around them.
const share = /66\.6%\u2069 delivered$/
const figures = /\/webhooks\/\d+\/deliveries\?/

t.test('the figures in the list of webhooks', { skip: noBrowser }, async (t) => {
  const server = await startPortal(t, { delivery: { allowHttp: true, allowNetworks: ['127.0.0.0/8'], retrySchedule: [0] } })
  const browser = await startBrowser(t)
  const { app, receiver } = server
  const { webhooks, emit, drain } = app.recruiting
  let status = 204
  receiver.answer((response) => response.writeHead(status).end())

  const add = async (name: string, type: string): Promise<number> =>
    (await webhooks.create('acme', { name, target_url: new URL('/', receiver.url).href, event_types: [type] })).id
  const happen = async (answer: number): Promise<void> => {
    status = answer
    await emit({ tenantSlug: 'acme', type: 'job.created', data: { id: 1 } })
    await drain()
  }
  const row = (page: Page, name: string): Locator => page.getByRole('listitem').filter({ hasText: name })
  const isWide = (page: Page): Promise<boolean> => page.evaluate('document.documentElement.scrollWidth > innerWidth')

  /** Keeps the requests for figures, until the test answers. */
  const holdFigures = (held: Route[]) => (page: Page) => page.route(figures, (route) => { held.push(route) })

  await add('CRM sync', 'job.created')
  await add('Idle', 'job.closed')
  for (const answer of [204, 204, 500]) await happen(answer)

  await t.test('a row has the share of the last 24 hours beside a chart, and nothing without deliveries', async (t) => {
    const { page, errors, strayRequests } = await server.open(browser, '#/')
    await row(page, 'CRM sync').getByText(share).waitFor()
    await row(page, 'CRM sync').getByText('Last 24 hours', { exact: true }).waitFor()
    t.equal(await row(page, 'CRM sync').locator('svg[viewBox="0 0 240 48"]').count(), 1)
    await page.waitForLoadState('networkidle')
    t.equal(await row(page, 'Idle').getByText('delivered').count(), 0)
    t.equal(await row(page, 'Idle').locator('svg[viewBox="0 0 240 48"]').count(), 0)
    t.same([errors, strayRequests], [[], []])
    await page.close()
  })

  await t.test('a row that has more deliveries than were counted says so', async (t) => {
    const { page } = await server.open(browser, '#/', {
      before: (page) => page.route(figures, async (route) => {
        const answer = await route.fetch()
        const { data, meta } = await answer.json() as { data: unknown[], meta: object }
        await route.fulfill({ response: answer, json: { data, meta: { ...meta, total: 500 } } })
      })
    })
    await row(page, 'CRM sync').getByText('Of the latest 3 deliveries.').waitFor()
    await page.close()
  })

  for (const viewport of [{ width: 1280, height: 800 }, { width: 700, height: 800 }, phone.viewport]) {
    await t.test(`figures move nothing, and axe finds nothing at a width of ${viewport.width} pixels`, async (t) => {
      const held: Route[] = []
      const { page } = await server.open(browser, '#/', {
        viewport,
        before: async (page) => {
          await installAxe(page)
          await holdFigures(held)(page)
        }
      })
      await becomes(t, () => held.length, 2)
      const sizes = async () => await Promise.all(['CRM sync', 'Idle'].map((name) => row(page, name).boundingBox()))
      const before = await sizes()
      for (const route of held) await route.continue()
      await page.getByText(share).waitFor()
      t.strictSame(await sizes(), before)
      t.notOk(await isWide(page))
      t.same(await auditThemes(page), [])
      await page.close()
    })
  }

  for (let index = 0; index < 18; index++) await add(`Endpoint ${index}`, 'job.closed')

  await t.test('at most two rows ask at once, only those on the screen, and each once', async (t) => {
    const asked: string[] = []
    let inFlight = 0
    let most = 0
    const { page } = await server.open(browser, '#/', {
      ...phone,
      before: (page) => page.route(figures, async (route) => {
        asked.push(route.request().url())
        inFlight += 1
        most = Math.max(most, inFlight)
        const response = await route.fetch()
        inFlight -= 1
        await route.fulfill({ response })
      })
    })
    const last = page.getByRole('link', { name: 'Endpoint 17', exact: true })
    await last.waitFor()
    await page.waitForLoadState('networkidle')
    t.ok(asked.length >= 2 && asked.length < 10, `${asked.length} of 20 rows`)
    await last.scrollIntoViewIfNeeded()
    await becomes(t, () => asked.some((url) => url.includes('/webhooks/20/')), true)
    await page.waitForLoadState('networkidle')
    t.equal(most, 2)
    t.equal(new Set(asked).size, asked.length)
    await page.close()
  })

  await t.test('a refusal stops them without a word', async (t) => {
    let asked = 0
    const { page } = await server.open(browser, '#/', {
      before: (page) => page.route(figures, async (route) => {
        asked += 1
        await route.fulfill({ status: 429, headers: { 'retry-after': '1' }, json: { error: { code: 'rate_limited', message: 'Rate limit exceeded', request_id: 'req_1' } } })
      })
    })
    await page.getByRole('link', { name: 'Endpoint 17', exact: true }).scrollIntoViewIfNeeded()
    await becomes(t, () => asked >= 1, true)
    await page.waitForLoadState('networkidle')
    t.ok(asked <= 2, `${asked} requests`)
    t.equal(await page.getByRole('alert').count(), 0)
    t.equal(await page.getByText(/%\u2069 delivered/).count(), 0)
    await page.close()
  })
})

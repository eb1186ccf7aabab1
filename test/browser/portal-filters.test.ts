import { Type } from '@sinclair/typebox'
import type { Page } from 'playwright-core'
import t from 'tap'
import { defaultEvents } from '../../src/index.js'
import { becomes } from '../fixtures/browser/becomes.js'
import { noBrowser, startBrowser } from '../fixtures/browser/browser.js'
import { auditThemes, installAxe, startPortal } from '../fixtures/browser/portal-page.js'

/** Values stand apart from the direction of the text around them. */
const isolated = (text: string): string => `\u2068${text}\u2069`

const events = {
  ...defaultEvents,
  'application.created': {
    ...defaultEvents['application.created'],
    properties: { id: Type.Integer(), code: Type.String(), stage: Type.Object({ name: Type.String() }) }
  }
}

t.test('filters of a webhook in the portal', { skip: noBrowser }, async (t) => {
  const server = await startPortal(t, { events, errorDetails: true })
  const browser = await startBrowser(t)
  const { webhooks, emit, drain } = server.app.recruiting
  const target = { target_url: server.receiver.url, event_types: ['application.created'] }
  const happen = (id: number, name: string) => emit({ tenantSlug: 'acme', type: 'application.created', data: { id, code: '7', stage: { name } } })
  for (let id = 1; id <= 4; id++) await happen(id, id === 1 ? 'Offer' : 'Applied')

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  const field = (page: Page, nth: number) => page.getByLabel(`Field of filter ${nth}`)
  const values = (page: Page, nth: number) => page.getByLabel(`Values of filter ${nth}`)
  const read = (page: Page) => page.locator('.filter-row > .hint').allTextContents()
  const counted = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text }).waitFor()
  const shown = (page: Page, nth: number) => values(page, nth).inputValue()
  const saved = async (id: number) => (await webhooks.find('acme', id))?.filters

  await t.test('are entered with the fields of the events, and counted against the last events', async (t) => {
    const { page, errors, strayRequests } = await server.open(browser, '#/new')
    await page.getByLabel('Name', { exact: true }).fill('Offers')
    await page.getByLabel('Endpoint URL').fill(server.receiver.url)
    await page.getByRole('checkbox', { name: 'application.created' }).check()
    const offered = () => page.locator('datalist option').evaluateAll((options) => options.map((option) => option.getAttribute('value')))
    await becomes(t, offered, ['data.id', 'data.code', 'data.stage.name'])

    await button(page, 'Add filter').click()
    await field(page, 1).fill('stage')
    await button(page, 'Create webhook').click()
    await page.getByText('Enter the field and the values of each filter').waitFor()
    await values(page, 1).fill('Offer')
    await page.getByText('Start each field with data.').waitFor()
    await field(page, 1).fill('data.stage.name')
    await counted(page, 'The filters match 1 of the last 4 events')
    await values(page, 1).fill('Offer, Applied')
    await counted(page, 'The filters match 4 of the last 4 events')
    await values(page, 1).fill('Offer, "Hired, abroad"')
    await counted(page, 'The filters match 1 of the last 4 events')

    await button(page, 'Add filter').click()
    await field(page, 2).fill('data.code')
    await values(page, 2).fill('7, null')
    await button(page, 'Add filter').click()
    await field(page, 3).fill('data.unknown')
    await values(page, 3).fill('7, "7"')
    await becomes(t, () => read(page), [
      `Text: ${isolated('"Offer", "Hired, abroad"')}`, `Text: ${isolated('"7"')} · Empty or missing`, `Number: ${isolated('7')} · Text: ${isolated('"7"')}`
    ])
    await counted(page, 'The filters match 0 of the last 4 events')
    await button(page, 'Remove filter 3').click()
    await counted(page, 'The filters match 1 of the last 4 events')

    await button(page, 'Create webhook').click()
    await button(page, 'I have stored it').click()
    await page.getByText('data.stage.name: Offer, "Hired, abroad"', { exact: true }).waitFor()
    await page.getByText('data.code: "7", null', { exact: true }).waitFor()
    t.strictSame(await saved(1), { 'data.stage.name': ['Offer', 'Hired, abroad'], 'data.code': ['7', null] })
    await happen(5, 'Applied')
    await happen(6, 'Offer')
    await drain()
    t.strictSame(server.receiver.requests.map(({ body }) => JSON.parse(body).data.id), [6])
    t.same([...errors, ...strayRequests], [])
    await page.close()
  })

  await t.test('stay as they are unless they are edited, and can be removed', async (t) => {
    const filters = { 'data.code': [7, '7'], 'data.stage.name': ['a, b', ' x'], 'data.flag': [true, null] }
    const { id } = await webhooks.create('acme', { ...target, name: 'Kept', filters })
    const { page, errors } = await server.open(browser, `#/${id}/edit`)
    const sent = async () => {
      const request = page.waitForRequest((request) => request.method() === 'PATCH')
      await button(page, 'Save changes').click()
      return (await request).postDataJSON()
    }
    const edit = async () => {
      await page.getByRole('heading', { level: 2, name: 'Details' }).waitFor()
      await page.getByRole('link', { name: 'Edit' }).click()
    }
    await becomes(t, () => shown(page, 1), '7, "7"')
    await becomes(t, () => shown(page, 2), '"a, b", " x"')
    await page.getByLabel('Name', { exact: true }).fill('Kept as they are')
    t.strictSame(await sent(), { name: 'Kept as they are' })

    await edit()
    await values(page, 3).fill('false')
    t.strictSame(await sent(), { filters: { ...filters, 'data.flag': [false] } })
    await edit()
    for (let count = 3; count > 0; count--) await button(page, 'Remove filter 1').click()
    t.strictSame(await sent(), { filters: null })
    await page.getByRole('heading', { level: 2, name: 'Details' }).waitFor()
    t.equal(await saved(id), null)
    await becomes(t, () => page.getByText('Filters', { exact: true }).count(), 0)
    t.same(errors, [])
    await page.close()
  })

  await t.test('show what the API says of them, until they change', async (t) => {
    const { id } = await webhooks.create('acme', { ...target, name: 'Refused', filters: { 'data.stage.name': ['Offer'] } })
    const { page } = await server.open(browser, `#/${id}/edit`)
    await values(page, 1).fill('x'.repeat(256))
    await button(page, 'Save changes').click()
    await page.getByText('must NOT have more than 255 characters').waitFor()
    await becomes(t, () => page.locator('recruiting-webhooks :focus').getAttribute('aria-label'), 'Field of filter 1')
    t.equal(await values(page, 1).getAttribute('aria-invalid'), 'true')
    await values(page, 1).fill('Hired')
    await page.getByText('must NOT have more than 255 characters').waitFor({ state: 'detached' })
    await button(page, 'Save changes').click()
    await page.getByText('data.stage.name: Hired', { exact: true }).waitFor()
    await page.close()
  })

  await t.test('are not counted for a session without bodies, and a failure says nothing', async (t) => {
    const { id } = await webhooks.create('acme', { ...target, name: 'Quiet', filters: { 'data.stage.name': ['Offer'] } })
    const previews = { limited: [] as unknown[], full: [] as unknown[] }
    const before = (session: 'limited' | 'full') => (page: Page) => page.route('**/webhooks/preview', (route) => {
      previews[session].push(route.request().postDataJSON().filters)
      return route.fulfill({ status: 404, json: { error: { code: 'not_found' } } })
    })
    const limited = await server.open(browser, `#/${id}/edit`, { before: before('limited'), capabilities: ['read', 'write'] })
    await becomes(t, () => shown(limited.page, 1), 'Offer')
    const full = await server.open(browser, `#/${id}/edit`, { before: before('full') })
    await becomes(t, () => previews.full, [{ 'data.stage.name': ['Offer'] }])
    const answered = full.page.waitForResponse('**/webhooks/preview')
    await values(full.page, 1).fill('Hired')
    await answered
    t.same(previews, { limited: [], full: [{ 'data.stage.name': ['Offer'] }, { 'data.stage.name': ['Hired'] }] })
    for (const { page } of [limited, full]) {
      t.equal(await page.getByText('The filters match').count(), 0)
      t.equal(await page.getByRole('alert').count(), 0)
      await page.close()
    }
  })

  await t.test('fit a phone, and axe finds nothing in both themes', async (t) => {
    const filters = { 'data.stage.name': ['Offer', 'x'.repeat(200)], 'data.id': [1, 2] }
    const { id } = await webhooks.create('acme', { ...target, name: 'Audited', filters })
    for (const place of [`#/${id}/edit`, `#/${id}`]) {
      const { page } = await server.open(browser, place, { portalLocale: 'de', viewport: { width: 360, height: 640 }, before: installAxe })
      if (place.endsWith('edit')) {
        await page.getByText(/Die Filter passen auf 1 der letzten/).waitFor()
        await page.getByLabel('Werte von Filter 2').fill('')
        await button(page, 'Änderungen speichern').click()
        await page.getByText('Geben Sie zu jedem Filter Feld und Werte ein').waitFor()
      } else {
        await page.getByText('data.id: 1, 2', { exact: true }).waitFor()
      }
      t.notOk(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), place)
      t.same(await auditThemes(page), [], place)
      await page.close()
    }
  })
})

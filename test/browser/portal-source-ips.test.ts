import type { Page } from 'playwright-core'
import t from 'tap'
import { becomes } from '../fixtures/browser/becomes.js'
import { noBrowser, startBrowser } from '../fixtures/browser/browser.js'
import { auditThemes, installAxe, startPortal } from '../fixtures/browser/portal-page.js'

const sourceIps = ['203.0.113.7', '198.51.100.0/24', '2001:db8:1:2:3:4:5:6', '2001:db8::/32']
const shown = sourceIps.join(', ')
const target = { name: 'CRM sync', target_url: 'https://hooks.example.com/', event_types: ['job.created'] }

t.test('the addresses that notifications come from', { skip: noBrowser }, async (t) => {
  const server = await startPortal(t, { delivery: { sourceIps } })
  const browser = await startBrowser(t)
  await server.app.recruiting.webhooks.create('acme', target)
  const isWide = (page: Page): Promise<boolean> => page.evaluate('document.documentElement.scrollWidth > innerWidth')

  for (const place of ['#/new', '#/1']) {
    await t.test(`are shown on ${place}, with a button that copies them`, async () => {
      const { page, errors } = await server.open(browser, place, { permissions: ['clipboard-read', 'clipboard-write'] })
      await page.getByText('Notifications come from', { exact: true }).waitFor()
      await page.getByText(shown, { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Copy: Notifications come from' }).click()
      await becomes(t, () => page.evaluate('navigator.clipboard.readText()'), shown)
      t.same(errors, [])
      await page.close()
    })

    await t.test(`fit a phone on ${place}, in German, and axe finds nothing`, async (t) => {
      const { page } = await server.open(browser, place, { portalLocale: 'de', viewport: { width: 320, height: 640 }, before: installAxe })
      await page.getByText('Benachrichtigungen kommen von', { exact: true }).waitFor()
      t.notOk(await isWide(page))
      t.same(await auditThemes(page), [])
      await page.close()
    })
  }

  await t.test('are not on the form of a webhook that exists, nor on a portal of a host that names none', async (t) => {
    const { page } = await server.open(browser, '#/1/edit')
    await page.getByLabel('Endpoint URL').waitFor()
    t.equal(await page.getByText('Notifications come from').count(), 0)
    await page.close()
    const other = await startPortal(t)
    await other.app.recruiting.webhooks.create('acme', target)
    for (const [place, text] of [['#/new', 'Create webhook'], ['#/1', 'Details']] as const) {
      const { page } = await other.open(browser, place)
      await page.getByText(text, { exact: true }).waitFor()
      t.equal(await page.getByText('Notifications come from').count(), 0)
      t.equal(await page.locator('.facts:empty').count(), 0)
      await page.close()
    }
  })
})

import t from 'tap'
import { defaultEvents } from '../../src/index.js'
import { becomes } from '../fixtures/browser/becomes.js'
import { noBrowser, startBrowser } from '../fixtures/browser/browser.js'
import { auditThemes, installAxe, startPortal } from '../fixtures/browser/portal-page.js'

/** Values stand apart from the direction of the text around them. */
const isolated = (text: string): string => `\u2068${text}\u2069`

t.test('the portal sets headers of a webhook, and says which events will go', { skip: noBrowser }, async (t) => {
  const deprecated = { since: '2026-03-01', sunset: '2026-09-01', link: 'https://ats.example/changes' }
  const events = {
    ...defaultEvents,
    'job.updated': { ...defaultEvents['job.updated'], deprecated },
    'job.archived': { ...defaultEvents['job.archived'], deprecated: { since: '2026-03-01' } }
  }
  const { app, receiver, open } = await startPortal(t, { events })
  const browser = await startBrowser(t)
  const { page, errors, strayRequests } = await open(browser, '#/new', { before: installAxe })
  const { webhooks, emit, drain } = app.recruiting
  const button = (name: string) => page.getByRole('button', { name, exact: true })

  await page.getByText(`Deprecated. It will be removed on ${isolated('Sep 1, 2026')}.`).waitFor()
  await page.getByText(`Deprecated since ${isolated('Mar 1, 2026')}.`).waitFor()
  t.equal(await page.getByRole('link', { name: 'What to use instead' }).getAttribute('href'), 'https://ats.example/changes')

  await page.getByLabel('Name', { exact: true }).fill('CRM sync')
  await page.getByLabel('Endpoint URL').fill(receiver.url)
  await page.getByRole('checkbox', { name: 'job.created' }).check()
  await button('Add header').click()
  await page.getByLabel('Name of header 1').fill('X Api Key')
  await button('Create webhook').click()
  await page.getByText('Enter the name and the value of each header').waitFor()
  await page.getByLabel('Value of header 1').fill('first')
  await page.getByText('Use only letters, digits and hyphens in header names').waitFor()
  await page.getByLabel('Name of header 1').fill('X-Api-Key')
  await button('Add header').click()
  await page.getByLabel('Name of header 2').fill('X-Tenant')
  await page.getByLabel('Value of header 2').fill('acme')
  await button('Create webhook').click()
  await button('I have stored it').click()
  const { data: [webhook] } = await webhooks.list('acme')
  t.same(webhook?.headers, { 'X-Api-Key': null, 'X-Tenant': null })
  await emit({ tenantSlug: 'acme', type: 'job.created', data: { id: 1 } })
  await drain()
  t.match(receiver.requests.at(-1)?.headers, { 'x-api-key': 'first', 'x-tenant': 'acme' })

  await page.evaluate(`location.hash = '#/${webhook?.id}/edit'`)
  await page.getByText('Values are not shown.').waitFor()
  await page.getByLabel('Name', { exact: true }).fill('CRM')
  await button('Save changes').click()
  await page.getByRole('heading', { name: 'CRM', level: 1 }).waitFor()
  t.same((await webhooks.find('acme', Number(webhook?.id)))?.headers, { 'X-Api-Key': null, 'X-Tenant': null }, 'kept')

  await page.evaluate(`location.hash = '#/${webhook?.id}/edit'`)
  await button('Replace headers').click()
  await button('Remove header 2').click()
  await becomes(t, () => page.getByLabel('Name of header 1').inputValue(), 'X-Api-Key')
  await page.getByLabel('Value of header 1').fill('second')
  // axe itself sets styles that the policy of the page refuses.
  t.same([...errors, ...strayRequests], [])
  t.strictSame(await auditThemes(page), [])
  await button('Save changes').click()
  await page.getByRole('heading', { name: 'CRM', level: 1 }).waitFor()
  await emit({ tenantSlug: 'acme', type: 'job.created', data: { id: 2 } })
  await drain()
  t.match(receiver.requests.at(-1)?.headers, { 'x-api-key': 'second', 'x-tenant': undefined })
})

import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { noBrowser, startBrowser, visit } from '../fixtures/browser/browser.js'
import { startPortalHost } from '../fixtures/browser/portal-host.js'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'

const title = 'on PostgreSQL, a stranger creates a webhook, finds why it fails, mends it and replays what it missed'

t.test(title, { skip: noBrowser }, async (t) => {
  const { storage } = await startPostgresHost(t)
  const receiver = await startReceiver(t)
  receiver.answer((response, { path }) => {
    response.writeHead(path === '/payroll' ? 204 : 404, { 'content-type': 'text/plain' }).end(path === '/payroll' ? '' : `No route for ${path}`)
  })
  const address = (path: string): string => new URL(path, receiver.url).href
  const { recruiting, createSession } = await startPortalHost(t, {
    storage,
    delivery: { allowHttp: true, allowNetworks: ['127.0.0.1/32'], responseExcerptBytes: 512, retrySchedule: [0], pollMs: 50 }
  })
  const { page, errors } = await visit(await startBrowser(t), await createSession(), { viewport: { width: 1280, height: 900 } })

  await page.getByText('No webhooks yet').waitFor()
  await page.getByRole('link', { name: 'Add webhook' }).click()
  await page.getByLabel('Name').fill('Payroll')
  await page.getByLabel('Endpoint URL').fill(address('/pay-roll'))
  await page.getByRole('checkbox', { name: 'application.hired' }).check()
  await page.getByRole('button', { name: 'Create webhook' }).click()
  const secret = await page.getByText(/^whsec_/).innerText()
  await page.getByRole('button', { name: 'I have stored it' }).click()
  await page.getByText('No deliveries yet').waitFor()

  for (const id of [1, 2]) await recruiting.emit({ tenantSlug: 'acme', type: 'application.hired', data: { id } })
  await recruiting.drain()
  await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))')
  await page.getByText('2 deliveries', { exact: true }).waitFor()
  await page.getByText('Your endpoint has been failing').waitFor()
  await page.getByRole('article').first().getByRole('link').click()
  await page.getByRole('heading', { name: /^Returned .*404/ }).waitFor()
  await page.getByText('There is nothing at this path: check the URL').waitFor()
  await page.getByText('No route for /pay-roll').waitFor()

  await page.getByRole('link', { name: 'Payroll' }).click()
  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByLabel('Endpoint URL').fill(address('/payroll'))
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByRole('button', { name: 'Replay events' }).click()
  await page.getByText('2 events will be sent').waitFor()
  await page.getByRole('button', { name: 'Send 2 events' }).click()
  await page.getByText('Replay of 2 events finished').waitFor()
  await page.getByRole('button', { name: 'Show in the log' }).click()
  await page.getByRole('article').filter({ hasText: 'Delivered' }).nth(1).waitFor()

  const verifier = new Webhook(secret)
  const received = receiver.requests.filter(({ path }) => path === '/payroll')
  const ids = received.map(({ headers, body }) => (verifier.verify(body, headers as Record<string, string>) as { data: { id: number } }).data.id)
  t.same(ids.sort(), [1, 2])
  t.same(errors, [])
})

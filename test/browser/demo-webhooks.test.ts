import axe from 'axe-core'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { noBrowser, visit } from '../fixtures/browser/browser.js'
import { openDemo, wide } from '../fixtures/browser/demo-page.js'

t.test('webhooks on the demo page', { skip: noBrowser }, async (t) => {
  const { page, browser, url, says, press, rows, calm, errors } = await openDemo(t)
  let secret = ''

  await t.test('a new webhook shows its secret, and receives a test', async () => {
    await press('New webhook')
    await page.getByLabel('Name', { exact: true }).fill('Payroll')
    await page.locator('#create [name=events]').selectOption({ label: 'Hires only' })
    await press('Create webhook')
    const item = await says('#webhooks li', /Payroll.*active.*application\.hired.*Its secret, shown only now: whsec_/s)
    secret = /whsec_[\w+/=]+/.exec(await item.textContent() ?? '')?.[0] ?? ''
    await press('Send test Payroll')
    await says('#webhooks .note', /^Delivered: 204 in \d+ ms/)
    await rows('application.hired', 'verified', 'test', 'to Payroll')
  })

  await t.test('each webhook gets a delivery of its own', async () => {
    await press('Hire somebody')
    await rows('application.hired', 'to Payroll', 'verified', '204 in')
    await rows('application.hired', 'to Demo receiver', 'verified', '204 in')
  })

  await t.test('an open row shows the headers and the body that the secret verifies', async (t) => {
    const row = (await rows('application.hired', 'to Payroll', '204 in')).first()
    await row.locator('summary').click()
    const headers = Object.fromEntries((await row.getByLabel('Headers').innerText()).split('\n').slice(1).map((line) => line.split(': ')))
    const body = JSON.stringify(JSON.parse(await row.getByLabel('Body').innerText()))
    t.match(new Webhook(secret).verify(body, headers), { type: 'application.hired', data: { candidate_name: /./ } })
    t.match(await row.locator('.inside').innerText(), /Verified: the signature equals HMAC-SHA256.*webhooks\/\d+\/deliveries\/\d+/s)
  })

  await t.test('a rotated secret signs next to the old one', async () => {
    await press('Rotate secret Demo receiver')
    await says('#webhooks .note', /Its secret, shown only now: whsec_.*a second signature with the old secret\.$/)
    await press('New application')
    await rows('application.created', 'verified, 2 signatures', '204 in')
  })

  await t.test('a replay sends what an inactive webhook missed', async (t) => {
    await calm()
    await press('Replay Demo receiver')
    await says('#webhooks .note', /^Nothing to replay: everything was delivered\.$/)
    await press('Deactivate Demo receiver')
    await says('#webhooks li', /Demo receiver.*inactive/s)
    const before = await page.locator('#inbox > li').count()
    await press('New application')
    await says('#feedback', 'applied for')
    await press('Activate Demo receiver')
    await says('#webhooks .note', 'Active again')
    await press('Replay Demo receiver')
    await says('#webhooks .note', /^2 deliveries queued again\.$/)
    await page.locator('#inbox > li').nth(before + 1).waitFor()
  })

  await t.test('delete asks first', async (t) => {
    await press('Delete Payroll')
    await says('#confirm', /Delete Payroll\?.*A deleted webhook cannot be restored\./s)
    await press('Cancel')
    await says('#webhooks li', 'Payroll')
    await press('Delete Payroll')
    await says('#confirm', 'Delete Payroll?')
    await page.keyboard.press('Escape')
    await says('#webhooks li', 'Payroll')
    await press('Delete Payroll')
    await press('Delete the webhook')
    await says('#feedback', 'Payroll was deleted.')
    await says('#webhook-request', /DELETE.*204 in/)
    await page.locator('#webhooks li').filter({ hasText: 'Payroll' }).waitFor({ state: 'detached' })
    t.equal(await page.locator('#webhooks li').count(), 1)
  })

  t.same(errors, [])

  await t.test('a key without the scopes reads records, and gets 403 for webhooks', async (t) => {
    await press('Read only')
    await says('#webhooks-empty', 'API key does not have required scope. The key acme-read-only lacks webhooks:read and webhooks:write.')
    await says('#webhook-request', /GET.*403 in/)
    await says('#range', /^1 to 8 of /)
    t.notOk(await page.getByRole('button', { name: 'New webhook' }).isVisible())
    await press('Full access')
    await says('#webhooks li', 'Demo receiver')
  })

  await t.test('the settings page embeds the portal: an admin adds a webhook, and a reader looks at it', async (t) => {
    const { page: settings, errors, strayRequests } = await visit(browser, 'about:blank', { viewport: wide, reducedMotion: 'reduce' })
    await settings.addInitScript(axe.source)
    await settings.goto(`${url}settings/`)
    const portal = settings.frameLocator('iframe')
    const click = (name: string): Promise<void> => portal.getByRole('button', { name }).click()

    await portal.getByRole('link', { name: 'Add webhook' }).click()
    await portal.getByLabel('Name', { exact: true }).fill('CRM sync')
    await portal.getByLabel('Endpoint URL').fill(await settings.locator('#address').innerText())
    await portal.getByRole('checkbox', { name: 'application.hired' }).check()
    await click('Create webhook')
    const secret = await portal.getByText(/^whsec_/).first().innerText()
    await click('I have stored it')
    await click('Send a test')
    await click('Send test')
    await portal.getByText(/^Your endpoint answered \W*401/).waitFor()
    await settings.getByLabel('Secret of the webhook').fill(secret)
    await settings.getByRole('button', { name: 'Give it to the receiver' }).click()
    await settings.getByText('The receiver verifies CRM sync now.').waitFor()
    await click('Send again')
    await portal.getByText(/^Delivered: your endpoint answered \W*204/).waitFor()

    await settings.getByRole('button', { name: 'Reader' }).click()
    await portal.getByText('CRM sync').click()
    await portal.getByText('application.hired').first().waitFor()
    for (const name of ['Edit', 'Send a test', 'Pause', 'Rotate secret', 'Delete', 'Replay']) {
      t.equal(await portal.getByText(name, { exact: true }).count(), 0, name)
    }
    await settings.getByRole('button', { name: 'German' }).click()
    await portal.getByText('Sobald etwas geschieht').waitFor()
    await settings.getByRole('button', { name: 'globex' }).click()
    await portal.getByText('CRM sync').waitFor({ state: 'detached' })
    t.same([errors, strayRequests], [[], []])

    const { violations, passes } = await settings.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run())
    t.ok(passes.some(({ nodes }) => nodes.some(({ target }) => target[0] === 'iframe')), 'axe looks into the frame')
    t.same(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]), [])
  })
})

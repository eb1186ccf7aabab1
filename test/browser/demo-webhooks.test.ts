import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { noBrowser } from '../fixtures/browser/browser.js'
import { openDemo } from '../fixtures/browser/demo-page.js'

t.test('webhooks on the demo page', { skip: noBrowser, timeout: 180_000 }, async (t) => {
  const { page, says, press, rows, calm, errors } = await openDemo(t)
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
})

import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { request } from '../examples/fixtures/request.js'
import { becomes } from '../fixtures/browser/becomes.js'
import { noBrowser } from '../fixtures/browser/browser.js'
import { openDemo } from '../fixtures/browser/demo-page.js'

t.test('the receiver on the demo page', { skip: noBrowser }, async (t) => {
  const { page, url, says, press, rows, errors } = await openDemo(t, { permissions: ['clipboard-read', 'clipboard-write'] })
  const webhooks = `${url}api/v1/public/acme/webhooks`
  const key = 'acme-full-access'
  const { body: { data: [webhook] } } = await request(webhooks, { key }) as { body: { data: [{ id: number }] } }

  await t.test('a new application arrives with the candidate’s name, who is in the list', async (t) => {
    await press('New application')
    await says('#feedback', 'applied for')
    const [name = ''] = (await page.locator('#feedback').textContent() ?? '').split(' (new candidate')
    const row = await rows(`application.created · ${name}`, 'verified', 'returned 204')
    t.equal(await row.count(), 1)
    await says('#rows tbody th', name)
  })

  await t.test('a hire is delivered, and its job', async () => {
    await press('Hire someone')
    await says('#feedback', 'was hired')
    await rows('application.hired', 'verified', 'returned 204')
    await rows('job.closed', 'verified', 'returned 204')
  })

  await t.test('the receiver refuses a forged delivery', async (t) => {
    await press('Forge a delivery')
    await says('#feedback', 'The receiver returned 401.')
    const forged = await rows('application.hired · Mallory', 'not verified', 'returned 401')
    t.equal(await forged.count(), 1)
  })

  await t.test('the receiver ignores duplicates', async () => {
    await request(`${webhooks}/${webhook.id}/replay`, { key, body: { include: 'all' } })
    await rows('application.hired', 'verified', 'duplicate, ignored', 'returned 204')
  })

  await t.test('it accepts another webhook once it has the secret, and an open row shows what the secret verifies', async (t) => {
    const address = await page.locator('#address').innerText()
    t.match(address, /^http:\/\/127\.0\.0\.1:\d+\/acme\/crm$/)
    await page.locator('#copy-address').click()
    await says('#copy-address', 'Copied')
    await becomes(t, () => page.evaluate('navigator.clipboard.readText()'), address)
    const { body } = await request(webhooks, { key, body: { name: 'CRM', target_url: address, event_types: ['application.hired'] } })
    const { data: { id, secret } } = body as { data: { id: number, secret: string } }
    const sendTest = (): Promise<unknown> => request(`${webhooks}/${id}/dispatch_test`, { key, body: {} })
    await sendTest()
    const refused = (await rows('application.hired', 'to /acme/crm', 'not verified: no trusted secret matches', 'returned 401')).first()
    await refused.locator('summary').click()
    await refused.getByText('If the webhook is yours, give its secret to the receiver.').waitFor()
    await page.getByLabel('Secret of your webhook').fill(secret)
    await press('Give it to the receiver')
    await says('#feedback', 'The receiver of acme now also accepts requests that are signed with this secret.')
    await sendTest()
    const row = (await rows('application.hired', 'to /acme/crm', 'test', 'returned 204')).first()
    await row.locator('summary').click()
    const headers = Object.fromEntries((await row.getByLabel('Headers').innerText()).split('\n').slice(1).map((line) => line.split(': ')))
    const sent = JSON.stringify(JSON.parse(await row.getByLabel('Body').innerText()))
    t.match(new Webhook(secret).verify(sent, headers), { type: 'application.hired', test: true })
    t.match(await row.locator('.inside').innerText(), 'Verified: the signature equals HMAC-SHA256')
    t.equal((await request(`${webhooks}/${id}`, { key, method: 'DELETE' })).status, 204)
  })

  await t.test('a request to an unknown path says what is wrong', async (t) => {
    const { origin } = new URL(await page.locator('#address').innerText())
    t.equal((await request(`${origin}/initech`, { body: { type: 'job.closed' } })).status, 404)
    const row = (await rows('job.closed', 'to /initech', 'not verified: unknown path', 'returned 404')).first()
    await row.locator('summary').click()
    await row.getByText("Rejected: nothing is at /initech. The receiver's addresses begin with /acme and /globex.").waitFor()
  })

  await t.test('it says how much shorter the retries are than by default', async (t) => {
    await says('#retries', 'Retries: Shortened for this demo: after 2, 3 and 6 seconds. By default, 9 retries take three days: after 5 s')
    await press('Gone')
    await says('#modes-says', 'Returns 410 Gone')
    await page.locator('#retries').waitFor({ state: 'hidden' })
    await press('Working')
    await says('#retries', 'Shortened')
  })

  await t.test('a rotated secret signs next to the old one', async () => {
    await request(`${webhooks}/${webhook.id}/rotate_secret`, { key, body: {} })
    await press('New application')
    await rows('application.created', 'verified, 2 signatures', 'returned 204')
  })

  await t.test('only the tenant whose receiver breaks has failures, and its delivery is retried', async (t) => {
    await press('Broken')
    await says('#feedback', 'The receiver of acme is broken. Other customers are not affected.')
    await press('New application')
    const failed = await rows('application.created', 'returned 500')
    const name = await failed.first().locator('bdi').innerText()
    await press('globex')
    await says('#modes [aria-pressed=true]', 'Working')
    await says('#feedback', /^Press a button\. Its result appears here\.$/)
    await press('New application')
    await rows('application.created', 'verified', 'returned 204')
    t.equal(await page.locator('#requests > li').filter({ hasText: name }).count(), 0)
    await press('acme')
    await press('Working')
    await rows('application.created', name, 'verified', 'returned 204')
  })

  await t.test('a page opened later shows the same requests', async () => {
    await page.reload()
    await says('#feed-state', 'Live')
    await rows('application.created', 'returned 500')
    await rows('not verified', 'returned 401')
  })

  t.same(errors, [])
})

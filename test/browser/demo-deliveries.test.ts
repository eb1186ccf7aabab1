import t from 'tap'
import { request } from '../examples/fixtures/request.js'
import { noBrowser } from '../fixtures/browser/browser.js'
import { openDemo } from '../fixtures/browser/demo-page.js'

t.test('deliveries on the demo page', { skip: noBrowser }, async (t) => {
  const { page, url, says, press, rows, calm, errors } = await openDemo(t)
  const webhooks = `${url}api/v1/public/acme/webhooks`

  await t.test('a new application arrives with the candidate’s name, who is in the list', async (t) => {
    await press('New application')
    await says('#feedback', 'applied for')
    const [name = ''] = (await page.locator('#feedback').textContent() ?? '').split(' (new candidate')
    const row = await rows(`application.created · ${name}`, 'verified', '204 in')
    t.equal(await row.count(), 1)
    t.equal(await row.locator('.dots').getAttribute('aria-label'), 'Attempt: 204')
    await says('#rows tbody th', name)
    await says('#legend .good', /^[1-9]\d* delivered/)
    t.match(await page.locator('#chart svg').getAttribute('aria-label'), /[1-9]\d* delivered/)
  })

  await t.test('a hire is delivered, and its job', async () => {
    await press('Hire somebody')
    await says('#feedback', 'was hired')
    await rows('application.hired', 'verified', '204 in')
    await rows('job.closed', 'verified', '204 in')
  })

  await t.test('the receiver refuses a forged delivery', async (t) => {
    await press('Forge a delivery')
    await says('#feedback', 'The receiver answered 401.')
    const forged = await rows('application.hired · Mallory', 'not verified', '401, refused')
    t.equal(await forged.count(), 1)
  })

  await t.test('the receiver ignores duplicates', async () => {
    const { body } = await request(webhooks, { key: 'acme-full-access' })
    const { data: [webhook] } = body as { data: [{ id: number }] }
    await request(`${webhooks}/${webhook.id}/replay`, { key: 'acme-full-access', body: { include: 'all' } })
    await rows('application.hired', 'verified', 'duplicate, ignored', '204 in')
  })

  await t.test('only the tenant whose receiver breaks has failures, and it is repaired at once', async (t) => {
    await press('Broken')
    await says('#feedback', 'The receiver of acme is broken. Other customers are not affected.')
    await press('New application')
    await rows('application.created', '500, retry in')
    await press('globex')
    await says('#receiver [aria-pressed=true]', 'Working')
    await press('New application')
    await rows('application.created', 'verified', '204 in')
    await press('acme')
    await press('Working')
    const row = await rows('application.created', 'verified', '204 in')
    await row.locator('.dots[aria-label^="Attempts: 500, "]').first().waitFor()
    await calm()
    t.equal(await row.filter({ hasText: '500' }).count(), 0)
  })

  await t.test('a failed delivery is one row with a dot for each attempt, and a replay says how many are still being retried', async (t) => {
    await press('Broken')
    await press('New application')
    await rows('application.created', '500, retry in')
    const waiting = await rows('candidate.created', '500, retry in')
    t.match(await waiting.first().locator('.dots').getAttribute('aria-label'), /^Attempts?: 500.*, and one to come$/)
    await press('Replay Demo receiver')
    await says('#webhooks .note', /^Nothing to replay: 2 deliveries are still being retried\.$/)
    const failed = (await rows('application.created', '500, given up')).first()
    t.equal(await failed.locator('.dots').getAttribute('aria-label'), 'Attempts: 500, 500, 500, 500')
    t.equal(await failed.locator('.dots i').count(), 4)
    await rows('candidate.created', '500, given up')
    await press('Working')
    await press('Replay Demo receiver')
    await says('#webhooks .note', /^2 deliveries queued again\.$/)
  })

  await t.test('410 disables the webhook, and the page says the way back', async () => {
    await press('Gone')
    await press('New application')
    await rows('410, given up')
    await says('#webhooks li', /Demo receiver.*disabled.*answered 410 Gone, so the service disabled the webhook\. Set the receiver to Working/s)
    await press('Working')
    await press('Activate Demo receiver')
    await says('#webhooks li', /Demo receiver.*active.*Active again/s)
    await press('Replay Demo receiver')
    await says('#webhooks .note', /^\d deliver(y|ies) queued again\.$/)
  })

  await t.test('a page opened later shows the same deliveries', async (t) => {
    await page.reload()
    await says('#feed-state', 'Live')
    await rows('application.created', '500, given up')
    await rows('not verified', '401, refused')
    await says('#legend .bad', /^[1-9]\d* given up/)
    t.ok(await page.locator('#chart rect.bad').count() > 0)
  })

  await t.test('retries of a deleted webhook are cancelled, on a page opened later too', async (t) => {
    await calm()
    await press('Broken')
    await press('New application')
    await rows('application.created', '500, retry in')
    await rows('candidate.created', '500, retry in')
    await press('Delete Demo receiver')
    await says('#confirm', '2 deliveries are still being retried and will be cancelled.')
    await press('Delete the webhook')
    const cancelled = await rows('cancelled', 'the webhook was deleted')
    await cancelled.nth(1).waitFor()
    await says('#webhooks-empty', 'No webhooks.')
    await page.reload()
    await cancelled.nth(1).waitFor()
    t.equal(await page.locator('#inbox > li').filter({ hasText: 'retry' }).count(), 0)
  })

  t.same(errors.filter((error) => !error.includes('404')), [])
})

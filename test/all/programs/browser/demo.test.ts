import { isDeepStrictEqual } from 'node:util'
import type { Locator, Page } from 'playwright-core'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { becomes } from '../../../fixtures/browser/becomes.js'
import { noBrowser, visit } from '../../../fixtures/browser/browser.js'
import { openDemo, phone, wide } from '../../../fixtures/browser/demo-page.js'
import { findViolations, readAxe } from '../../../fixtures/browser/axe.js'
import { request } from '../../../fixtures/examples/request.js'

t.test('records on the demo page', { skip: noBrowser }, async (t) => {
  const { page, says, press, strayRequests, errors, demo } = await openDemo(t)
  const names = page.locator('#rows tbody th')
  const choice = page.locator('#filters [name=choice]')

  await t.test('a search shows the candidates whose names contain the text', async (t) => {
    await says('#range', /^1 to 8 of 32\d$/)
    await page.getByLabel('Search').fill('élodie')
    await says('#range', /^1 to \d of \d$/)
    await becomes(t, async () => {
      const found = await names.allTextContents()
      return found.length >= 3 && found.every((name) => name.startsWith('Élodie '))
    }, true, 'the rows are those that were found')
    await says('#list-request', 'filter[q]=élodie')
    await page.getByLabel('Search').fill('nobody at all')
    await says('#rows-empty', 'No matches')
    await page.getByLabel('Search').fill('')
  })

  await t.test('recruiters and sources have names', async (t) => {
    await choice.selectOption({ label: 'Tomasz Lis' })
    await says('#list-request', 'filter[recruiter_id]=12')
    await says('td.source', /^[A-Z]/)
    const sources = await page.locator('td.source').allTextContents()
    t.ok(sources.every((source) => /^(–|[A-Z][a-z]+( [a-z]+)*)$/.test(source)), sources.join())
  })

  await t.test('filters, sorts and pages are those of the API', async (t) => {
    await page.locator('#filters [name=sort]').selectOption('full_name')
    await says('#list-request', 'sort=full_name')
    const first = await names.first().textContent()
    await press('Next')
    await says('#range', /^9 to 16 of /)
    await becomes(t, async () => await names.first().textContent() !== first, true, 'another page')
    await press('Previous')
    await says('#range', /^1 to 8 of /)
    await press('Jobs')
    await choice.selectOption('published')
    await says('#list-request', '/jobs?page=1&per_page=8&sort=-updated_at&filter[status]=published')
    await becomes(t, async () => {
      const statuses = await page.locator('#rows .chip').allTextContents()
      return statuses.length > 1 && statuses.every((status) => status === 'published')
    }, true, 'the rows are those of the filter')
  })

  await t.test('another customer sees its own data', async (t) => {
    await press('globex')
    await says('#list-request', '/api/v1/public/globex/jobs')
    await becomes(t, () => page.locator('.card h2').allTextContents(), ['Make something happen', 'Receiver of globex', 'Portal of globex', 'Records of globex', 'Agents of globex'])
  })

  await t.test('an agent has an address for each customer, and a transcript of its session', async (t) => {
    await says('#mcp-address', /\/api\/v1\/public\/globex\/mcp$/)
    await press('Let an agent look for jobs')
    await says('#transcript', 'list_jobs {"filter":{"status":"published"}')
    await says('#transcript', '403: API key does not have required scope')
  })

  t.same(strayRequests, [])
  t.same(errors, [])

  await t.test('the demo closes while a page is open, and the page says so', async (t) => {
    t.equal(await demo.end('SIGTERM'), 0)
    await says('#feed-state', 'Connection lost')
  })
})

t.test('background activity on the demo page', { skip: noBrowser }, async (t) => {
  const { page, says, press, portal } = await openDemo(t, { everyMs: 200 })
  const feedback = page.locator('#feedback')

  await t.test('keeps the result of the button pressed last', async (t) => {
    await press('Hire someone')
    await says('#feedback', /was hired for .*, and the job is filled\.$/)
    const result = await feedback.textContent()
    await says('#background-news', 'moved from')
    await says('#background-news', 'was published as job')
    t.equal(await feedback.textContent(), result)
  })

  await t.test('pauses and resumes', async (t) => {
    await press('Pause background activity')
    await says('#background-news', 'Background activity is paused.')
    await page.reload()
    await says('#background-news', 'Background activity is paused.')
    await press('New application')
    await says('#feedback', /^.* \(new candidate \d+\) applied for /)
    const [name = ''] = (await feedback.textContent() ?? '').split(' (new candidate')
    await says('#rows tbody th', name)
    t.equal(await page.locator('#background-news').textContent(), 'Background activity is paused.')
    await press('Resume background activity')
    await page.locator('#background-news').filter({ hasNotText: 'paused' }).waitFor()
    await says('#background-news', /^Background: .* (applied|moved|was)/)
  })

  await t.test('starts over with the demo, which asks before a reset', async (t) => {
    await press('Reset the demo')
    await page.getByRole('button', { name: 'Cancel' }).click()
    t.match(await feedback.textContent(), /applied for/)
    await press('Broken')
    await says('#modes [aria-pressed=true]', 'Broken')
    await press('Reset the demo')
    await page.locator('#confirm-yes').click()
    await says('#feedback', /^Press a button/)
    await says('#feed-state', 'Live')
    await says('#modes [aria-pressed=true]', 'Working')
    await portal.getByText('Demo receiver').waitFor()
    await says('#background-news', /^Background: /)
  })
})

/** Where an element begins and ends, from the top of the window. */
async function measure (locator: Locator): Promise<{ top: number, bottom: number }> {
  const { y = NaN, height = NaN } = await locator.first().boundingBox() ?? {}
  return { top: y, bottom: y + height }
}

function doesScrollSideways (page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > innerWidth')
}

t.test('the layout of the demo page', { skip: noBrowser }, async (t) => {
  const { page, browser, url, says, press, rows, portal } = await openDemo(t)

  await t.test('actions, requests and portal share a laptop’s screen, and no button wraps alone', async (t) => {
    await rows('returned 204')
    for (const [name, part] of [['the requests', page.locator('#requests')], ['the first webhook', portal.getByText('Demo receiver')]] as const) {
      await becomes(t, async () => (await measure(part)).bottom < wide.height, true, `${name} are in sight`)
    }
    const tops = await page.locator('.actions > .buttons button').evaluateAll((buttons) => buttons.map((button) => (button as unknown as { offsetTop: number }).offsetTop))
    t.equal(new Set(tops).size, 1)
  })

  await t.test('on a phone the actions come first, then the receiver, the portal and the records', async (t) => {
    await page.setViewportSize(phone)
    await becomes(t, async () => (await measure(page.locator('[data-action=hire]'))).bottom < phone.height / 2, true, 'Hire someone is in the upper half')
    await becomes(t, async () => {
      const tops = await Promise.all(['.actions', '.receiver', '#portal', '#rows'].map(async (selector) => (await measure(page.locator(selector))).top))
      return isDeepStrictEqual(tops, tops.toSorted((a, b) => a - b))
    }, true, 'the parts are in this order')
  })

  await t.test('nothing scrolls sideways from 320 px', async (t) => {
    for (const width of [320, 360, 390, 600, 768, 992, 1280, 1920]) {
      await page.setViewportSize({ width, height: 800 })
      await becomes(t, () => doesScrollSideways(page), false, `${width} px`)
    }
  })

  await t.test('the dialog keeps the focus, and gives it back', async (t) => {
    await page.setViewportSize(wide)
    await press('Reset the demo')
    await says('#confirm', 'Reset the demo?')
    await becomes(t, () => page.evaluate('document.activeElement.textContent'), 'Cancel')
    await page.keyboard.press('Escape')
    await becomes(t, () => page.evaluate('document.activeElement.textContent'), 'Reset the demo')
  })

  await t.test('it is accessible with the portal in its frame: light and dark, wide and narrow', async (t) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const viewport of [wide, phone]) {
        const { page } = await visit(browser, 'about:blank', { colorScheme, viewport, reducedMotion: 'reduce' })
        await page.addInitScript(await readAxe())
        await page.goto(url)
        const name = `${colorScheme}, ${viewport.width} wide`
        const click = (label: string): Promise<void> => page.getByRole('button', { name: label }).first().click()
        await click('Forge a delivery')
        await page.locator('#requests > li').filter({ hasText: 'not verified' }).first().locator('summary').click()
        await page.locator('#requests > li').filter({ hasText: 'returned 204' }).first().locator('summary').click()
        await page.frameLocator('iframe').getByText('Demo receiver').waitFor()
        t.same(await findViolations(page), [], name)
        await click('Reset the demo')
        await page.locator('#confirm[open]').waitFor()
        t.same(await findViolations(page), [], `${name}, with the dialog`)
        await page.context().close()
      }
    }
  })
})

t.test('the portal on the demo page', { skip: noBrowser }, async (t) => {
  const { page, says, press, rows, portal, errors, strayRequests } = await openDemo(t)
  const click = (name: string): Promise<void> => portal.getByRole('button', { name, exact: true }).click()

  await t.test('an admin adds a webhook, which the receiver accepts once it has the secret', async () => {
    await portal.getByRole('link', { name: 'Add webhook' }).click()
    await portal.getByLabel('Name', { exact: true }).fill('CRM sync')
    await portal.getByLabel('Endpoint URL').fill(await page.locator('#address').innerText())
    await portal.getByRole('checkbox', { name: 'application.hired' }).check()
    await click('Create webhook')
    const secret = await portal.getByText(/^whsec_/).first().innerText()
    await click('I have stored it')
    await click('Send a test')
    await click('Send test')
    await portal.getByText(/^Your endpoint returned \W*401/).waitFor()
    await page.getByLabel('Secret of your webhook').fill(secret)
    await press('Give it to the receiver')
    await says('#feedback', 'now also accepts')
    await click('Send again')
    await portal.getByText(/^Delivered: your endpoint returned \W*204/).waitFor()
    await rows('application.hired', 'to /acme/crm', 'test', 'returned 204')
    await portal.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
  })

  await t.test('a hire is in the log of the webhook', async () => {
    await press('Hire someone')
    await rows('application.hired', 'to /acme/crm', 'verified')
    await portal.getByRole('article').getByText('application.hired').first().waitFor()
  })

  await t.test('410 disables the webhook, and the portal says the way back', async () => {
    await press('Gone')
    await press('Hire someone')
    const name = await (await rows('to /acme/crm', 'returned 410')).first().locator('bdi').innerText()
    await portal.getByText('Disabled: your endpoint returned 410 Gone').waitFor()
    await press('Working')
    await click('Enable again')
    await portal.getByText('Active', { exact: true }).waitFor()
    await click('Replay events')
    await portal.getByRole('button', { name: /^Send \W*[12]\W* events?$/ }).click()
    await rows('application.hired', name, 'to /acme/crm', 'verified', 'returned 204')
  })

  await t.test('a reader changes nothing, and language and customer can be chosen', async (t) => {
    await press('Reader')
    await portal.getByText('CRM sync').click()
    await portal.getByText('application.hired').first().waitFor()
    for (const name of ['Edit', 'Send a test', 'Pause', 'Rotate secret', 'Delete', 'Replay events']) {
      t.equal(await portal.getByText(name, { exact: true }).count(), 0, name)
    }
    const languages = page.getByRole('combobox', { name: 'Language' })
    t.same(await languages.getByRole('option').allTextContents(), ['English', 'Deutsch', 'Français', 'Español', 'Nederlands', 'Português'])
    for (const [locale, add] of Object.entries({ de: 'Sobald etwas geschieht', fr: 'dès que quelque chose se produit' })) {
      await languages.selectOption(locale)
      await portal.getByText(add).waitFor()
    }
    await press('globex')
    await portal.getByText('CRM sync').waitFor({ state: 'detached' })
    await portal.getByText('Demo receiver').waitFor()
  })

  t.same([errors, strayRequests], [[], []])
})

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

import t from 'tap'
import { noBrowser } from '../fixtures/browser/browser.js'
import { openDemo } from '../fixtures/browser/demo-page.js'

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

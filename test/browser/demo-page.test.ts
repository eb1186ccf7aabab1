import t from 'tap'
import { becomes } from '../fixtures/browser/becomes.js'
import { noBrowser } from '../fixtures/browser/browser.js'
import { openDemo } from '../fixtures/browser/demo-page.js'

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

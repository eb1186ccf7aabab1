import type { Locator, Page } from 'playwright-core'
import t from 'tap'
import type { DefaultEvents } from '../../../../src/index.js'
import { becomes } from '../../../fixtures/browser/becomes.js'
import { findViolations } from '../../../fixtures/browser/axe.js'
import { noBrowser } from '../../../fixtures/browser/browser.js'
import { startPortal } from '../../../fixtures/browser/portal-host.js'

const markup = '<img src=x onerror=alert(1)>'
const hostile = `${markup}\u202Egnp.exe\u2066 ${'ü'.repeat(10_000)}`
const narrow = { viewport: { width: 320, height: 640 } }
/** The second attempt after a failure, in an hour. A slow test sees a few minutes less. */
const nextAttempt = 'Next attempt.*in (1 hour|5\\d minutes)'

const rowsOf = (page: Page): Locator => page.getByRole('list', { name: 'Deliveries, newest first' }).locator('> li')

/** Makes the page believe that it became visible again, so that it loads new deliveries. */
async function comeBack (page: Page): Promise<void> {
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
}

t.test('the delivery log of the portal', { skip: noBrowser }, async (t) => {
  const { recruiting: { webhooks, emit, drain, erase }, receiver, open: openNew, complaints } = await startPortal(t)
  receiver.answer((response, { path }) => {
    const body = path.endsWith('hostile') ? hostile : '{"why":"database is down"}'
    response.writeHead(Number(path.split('/')[1]), { 'content-type': 'text/plain; charset=utf-8' }).end(body)
  })

  const common = await openNew(t, '#/', { permissions: ['clipboard-read', 'clipboard-write'] })

  /** Opens a route in the page that most tests share. */
  async function open (place: string): Promise<Page> {
    await common.mouse.move(0, 0)
    await common.evaluate("location.hash = '#/'")
    await common.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor()
    await common.evaluate(`location.hash = ${JSON.stringify(place)}`)
    return common
  }

  async function add (name: string, path: string, ...types: string[]): Promise<number> {
    const { id } = await webhooks.create('acme', { name, target_url: new URL(path, receiver.url).href, event_types: types })
    return id
  }

  async function happen (type: keyof DefaultEvents, count = 1, data: object = { id: 1 }): Promise<void> {
    for (let index = 0; index < count; index++) await emit({ tenantSlug: 'acme', type, data })
    await drain()
  }

  const newestOf = async (id: number): Promise<number> => (await webhooks.listDeliveries('acme', id, { per_page: 1 })).data[0]?.id ?? 0
  const copied = (page: Page): Promise<string> => page.evaluate('navigator.clipboard.readText()')
  const isWide = (page: Page): Promise<boolean> => page.evaluate('document.documentElement.scrollWidth > innerWidth')

  const broken = await add('Payroll', '/500', 'job.created', 'job.updated')
  await webhooks.update('acme', broken, { headers: { 'X-Api-Key': 'hush' } })
  await happen('job.created', 2)
  await happen('job.updated')

  await t.test("a webhook's deliveries are shown newest first, and can be filtered", async (t) => {
    const page = await open(`#/${broken}`)
    await page.getByText('3 deliveries').waitFor()
    const rows = rowsOf(page)
    t.strictSame(await rows.getByRole('heading').allTextContents(), ['job.updated', 'job.created', 'job.created'])
    t.match(await rows.first().textContent(), new RegExp(`^job\\.updated.*Waiting.*${nextAttempt}.*Returned .*500`))
    await page.getByLabel('Event type').selectOption('job.created')
    await page.getByText('2 deliveries').waitFor()
    await page.getByLabel('Status').selectOption('Delivered')
    await page.getByText('No deliveries match').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).first().click()
    await page.getByText('3 deliveries').waitFor()
    const [first] = (await webhooks.listDeliveries('acme', broken, { sort: 'id' })).data
    await page.getByLabel('Event id').fill(` ${first?.event_id} `)
    await page.getByText('1 delivery', { exact: true }).waitFor()
    await becomes(t, () => rows.count(), 1)
  })

  await t.test('new deliveries appear automatically, but not while the user points at a row', async (t) => {
    const id = await add('Live', '/500', 'job.published')
    await happen('job.published')
    const page = await openNew(t, `#/${id}`, { before: (page) => page.clock.install() })
    await page.getByText('1 delivery', { exact: true }).waitFor()
    await happen('job.published')
    await page.clock.runFor(10_000)
    await page.getByText('2 deliveries', { exact: true }).waitFor()
    await becomes(t, () => rowsOf(page).count(), 2)
    await rowsOf(page).first().hover()
    await happen('job.published')
    await page.clock.runFor(10_000)
    t.equal(await rowsOf(page).count(), 2, 'no row has moved')
    await page.mouse.move(0, 0)
    await page.clock.runFor(10_000)
    await becomes(t, () => rowsOf(page).count(), 3)
  })

  await t.test('a delivery shows its attempts and advice', async (t) => {
    const page = await open(`#/${broken}`)
    await page.getByRole('link', { name: 'job.updated' }).click()
    await page.getByText('1 attempt failed. We will retry automatically.').waitFor()
    t.match(await page.getByRole('list').locator('li').allTextContents(), [new RegExp(`^${nextAttempt}`), /^Returned .*500.*Attempt 1 · .* ms.*An error in your code or in front of it/])
    const { body = '' } = await webhooks.findDelivery('acme', broken, await newestOf(broken)) ?? {}
    t.equal(await page.getByRole('region', { name: 'Body of the request' }).textContent(), JSON.stringify(JSON.parse(body), null, 2))
    await page.getByRole('button', { name: 'Copy: Body of the request' }).click()
    await page.getByText('Copied').first().waitFor()
    await becomes(t, () => copied(page), body)

    const headers = page.getByRole('region', { name: 'Headers of the request' })
    const eventId = String(JSON.parse(body).id)
    t.match(await headers.textContent(), `webhook-id: ${eventId}`)
    t.match(await headers.textContent(), 'X-Api-Key: <not shown>')
    await page.getByRole('button', { name: 'Copy as curl' }).click()
    await becomes(t, () => copied(page), new RegExp(`^[^]*ID='${eventId}'[^]*/500'[^]*'X-Api-Key: <value>'`))
    t.notMatch(await copied(page), 'hush')

    await page.getByRole('button', { name: 'Try now' }).click()
    await page.getByText('Given up: Returned').first().waitFor()
    await page.getByText('We gave up after 2 attempts and will not retry automatically.').waitFor()
    receiver.requests.length = 0
    await page.getByRole('button', { name: 'Send again' }).click()
    await page.getByText('Sent again as a new delivery').first().waitFor()
    await page.getByText('Waiting: Returned').first().waitFor()
    await page.getByRole('link', { name: 'Open the new delivery' }).click()
    await page.getByText('1 attempt failed').waitFor()
    await becomes(t, () => receiver.requests.length, 1)

    await page.getByRole('link', { name: 'Payroll' }).click()
    await page.getByText('4 deliveries').waitFor()
  })

  await t.test('a replay shows the number of events before it sends them', async (t) => {
    const id = await add('Replayed', '/200', 'candidate.created', 'candidate.updated')
    await webhooks.update('acme', id, { status: 'inactive' })
    await happen('candidate.created', 2)
    await happen('candidate.updated')
    await webhooks.update('acme', id, { status: 'active' })
    receiver.requests.length = 0
    const page = await open(`#/${id}`)
    await page.getByRole('button', { name: 'Replay events' }).click()
    await page.getByText('3 events will be sent').waitFor()
    await page.getByLabel('Custom range').check()
    await page.getByLabel('From', { exact: true }).fill('')
    await page.getByRole('button', { name: 'Send events' }).click()
    await page.getByText('Enter a date and time').waitFor()
    await page.locator('recruiting-webhooks [aria-invalid=true]:focus').waitFor()
    await page.getByLabel('From', { exact: true }).fill('2020-01-01T00:00')
    await page.getByLabel('To', { exact: true }).fill('2019-01-01T00:00')
    await page.getByText('Must be before the end').waitFor()
    await page.getByLabel('To', { exact: true }).fill('2020-02-01T00:00')
    await page.getByText('There is nothing to send in this time range').waitFor()
    await page.getByLabel('Last hour').check()
    await page.getByRole('checkbox', { name: 'candidate.created' }).check()
    await page.getByText('2 events will be sent').waitFor()
    t.equal(receiver.requests.length, 0, 'nothing is sent yet')
    await happen('candidate.created')
    await page.getByLabel('All').check()
    await page.getByText('3 events will be sent').waitFor()
    await page.getByLabel('Not delivered').check()
    await page.getByRole('button', { name: 'Send 2 events' }).click()
    await page.getByText('2 events are on their way').first().waitFor()
    await drain()
    await becomes(t, () => receiver.requests.length, 3)
    await page.getByRole('button', { name: 'Show in the log' }).click()
    await page.getByText('6 deliveries').waitFor()
  })

  await t.test('a session without replay and bodies sees no bodies, and no buttons to retry or replay', async (t) => {
    const place = `#/${broken}/deliveries/${await newestOf(broken)}`
    const page = await openNew(t, place, { capabilities: ['read'] })
    await page.getByText('Your session has no access to bodies and responses.').waitFor()
    t.equal(await page.getByRole('button', { name: /Send again|Try now/ }).count(), 0)
    await page.getByRole('link', { name: 'Payroll' }).click()
    await rowsOf(page).first().waitFor()
    t.equal(await page.getByRole('button', { name: 'Replay events' }).count(), 0)
  })

  await t.test('an erased event is shown as erased', async (t) => {
    const id = await add('Erased', '/200', 'candidate.deleted')
    await emit({ tenantSlug: 'acme', type: 'candidate.deleted', data: { name: 'Ada' }, subject: 'candidate:1' })
    await drain()
    await erase({ tenantSlug: 'acme', subject: 'candidate:1' })
    const page = await open(`#/${id}/deliveries/${await newestOf(id)}`)
    await page.getByText('The data of this event was erased').waitFor()
    t.notMatch(await page.getByRole('region', { name: 'Body of the request' }).textContent(), 'Ada')
  })

  await t.test('external input is shown as text, everywhere and at every width', async (t) => {
    const address = `/500/${'w'.repeat(1500)}"><script>x=1</script>/hostile`
    const id = await add(`${markup}\u202E مرحبا ${'W'.repeat(200)}`, address, 'candidate.merged')
    await happen('candidate.merged', 1, { name: hostile })
    const page = await openNew(t, `#/${id}/deliveries/${await newestOf(id)}`, narrow)
    const body = page.getByRole('region', { name: 'Body of the request' })
    await page.getByRole('link', { name: markup }).waitFor()
    t.match(await body.textContent(), `"name": "${markup}\\u202egnp.exe\\u2066 üüü`)
    t.match(await page.getByRole('region', { name: 'Attempt 1: Start of the response' }).textContent(), `${markup}\\u202egnp.exe\\u2066 üüü`)
    t.equal(await page.locator('img').count(), 0)
    t.notOk(await isWide(page))
    await page.getByRole('link', { name: markup }).click()
    await rowsOf(page).waitFor()
    t.equal(await page.locator('img').count(), 0)
    t.notOk(await isWide(page))
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').filter({ hasText: `${markup}\\u202e` }).waitFor()
    t.notOk(await isWide(page), 'with a dialog')
    await page.keyboard.press('Escape')
    await page.evaluate("location.hash = '#/'")
    await page.getByRole('link', { name: `${markup}\\u202e` }).waitFor()
    t.equal(await page.locator('recruiting-webhooks').locator('img, script').count(), 0)
    t.notOk(await isWide(page), 'the list')
  })

  await t.test('a dialog explains why the webhook got an event or not', async (t) => {
    const id = await add('Curious', '/200', 'job.closed')
    await webhooks.update('acme', id, { filters: { 'data.id': [7, 8] } })
    const emitNow = (type: keyof DefaultEvents, data: object) => emit({ tenantSlug: 'acme', type, data })
    const [filtered, other] = [await emitNow('job.closed', { id: 9 }), await emitNow('job.archived', { id: 7 })]
    const sent = await emitNow('job.closed', { id: 7 })
    await drain()
    const page = await open(`#/${id}`)
    await page.getByRole('button', { name: 'Missing an event?' }).click()
    const dialog = page.getByRole('dialog')
    for (const [eventId, text] of [
      ['evt_0', 'No event with this id is stored'], [other.id, 'does not subscribe to its type'],
      [` ${filtered.id} `, /data\.id.* is .*9.*, but the filter expects .*\[7,8\]/], [sent.id, 'Delivered']
    ] as const) {
      await dialog.getByLabel('Event id').fill(eventId)
      await dialog.getByRole('button', { name: 'Check' }).click()
      await dialog.getByText(text).waitFor()
    }
    await dialog.getByRole('link', { name: 'Open the delivery' }).click()
    await page.getByRole('region', { name: 'Attempt 1' }).waitFor()
    t.notOk(await dialog.isVisible())
  })

  await t.test('axe finds no violations in either theme', async (t) => {
    const page = await openNew(t, `#/${broken}`, { isAudited: true })
    await rowsOf(page).first().waitFor()
    t.same(await findViolations(page), [])
    await page.getByRole('button', { name: 'Replay events' }).click()
    await page.getByText(/will be sent|nothing to send/).waitFor()
    t.same(await findViolations(page), [])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Missing an event?' }).click()
    await page.getByRole('dialog').getByLabel('Event id').fill('evt_0')
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByText('No event with this id is stored').waitFor()
    t.same(await findViolations(page), [])
    await page.keyboard.press('Escape')
    await rowsOf(page).last().getByRole('link').click()
    await page.getByRole('region', { name: 'Attempt 1' }).waitFor()
    t.same(await findViolations(page), [])
  })

  await t.test('a failure is shown with its request id, keeps the rows and disappears after a success', async (t) => {
    const page = await open(`#/${broken}`)
    await rowsOf(page).first().waitFor()
    await page.route(/deliveries\?/, (route) => route.fulfill({ status: 500, json: { error: { code: 'internal_error', message: 'Broken', request_id: 'req-7' } } }))
    await comeBack(page)
    await page.getByText('req-7').waitFor()
    t.ok(await rowsOf(page).count() > 2)
    await page.unroute(/deliveries\?/)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('req-7').waitFor({ state: 'hidden' })
  })

  await t.test('a long log has pages, and Back leads to the page from which a delivery was opened', async (t) => {
    const id = await add('Busy', '/200', 'candidate.anonymized')
    await webhooks.update('acme', id, { status: 'inactive' })
    await happen('candidate.anonymized', 60)
    const oldest = (await webhooks.listDeliveries('acme', id, { sort: 'id', per_page: 1 })).data[0]
    const page = await open(`#/${id}`)
    await page.getByText('60 deliveries').waitFor()
    await becomes(t, () => rowsOf(page).count(), 25)
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText('Page 2 of 3').waitFor()
    await page.getByRole('button', { name: 'Next' }).click()
    await becomes(t, () => rowsOf(page).count(), 10)
    t.match(await rowsOf(page).last().textContent(), oldest?.event_id)
    await rowsOf(page).last().getByRole('link').click()
    await page.getByText('The webhook was not active').first().waitFor()
    await page.getByRole('link', { name: 'Busy' }).click()
    await page.getByText('Page 3 of 3').waitFor()
    await becomes(t, () => rowsOf(page).count(), 10)
  })

  await t.test('no page logged an error or requested anything from another origin', async (t) => {
    t.same(complaints(), [])
  })
})

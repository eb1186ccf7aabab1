import type { Locator, Page } from 'playwright-core'
import { Webhook as Verifier } from 'standardwebhooks'
import { Type } from '@sinclair/typebox'
import t from 'tap'
import { defaultEvents, type WebhookStatus } from '../../../../src/index.js'
import { becomes } from '../../../fixtures/browser/becomes.js'
import { findViolations } from '../../../fixtures/browser/axe.js'
import { noBrowser } from '../../../fixtures/browser/browser.js'
import { startPortal } from '../../../fixtures/browser/portal-host.js'

const narrow = { viewport: { width: 320, height: 640 } }

/** Names are isolated from the direction of the surrounding text. */
const isolated = (text: string): string => `\u2068${text}\u2069`
const allOf = (group: string): string => `All of ${isolated(group)}`
const exampleOf = (name: string): string => `Example of ${isolated(name)}`

t.test('the settings of a webhook in the portal', { skip: noBrowser }, async (t) => {
  const { recruiting, receiver, open, complaints, createSession, storage: { holds } } = await startPortal(t)
  const { webhooks, emit, drain } = recruiting
  receiver.answer((response, { path }) => response.writeHead(Number(path.slice(1)), { 'retry-after': '30' }).end())

  const endpoint = (path: string): string => new URL(path, receiver.url).href
  const add = async (name: string, path: string): Promise<number> =>
    (await webhooks.create('acme', { name, target_url: endpoint(path), event_types: ['job.created', 'job.closed'] })).id
  const happen = async (): Promise<void> => {
    await emit({ tenantSlug: 'acme', type: 'job.created', data: { id: 1 } })
    await drain()
  }
  const statusOf = async (id: number): Promise<WebhookStatus | undefined> => (await webhooks.find('acme', id))?.status

  const button = (page: Page | Locator, name: string): Locator => page.getByRole('button', { name, exact: true })
  const heading = (page: Page, name: string): Locator => page.getByRole('heading', { name, level: 1 })
  const dialog = (page: Page): Locator => page.getByRole('dialog')
  const focused = (page: Page): Locator => page.locator('recruiting-webhooks :focus')
  const copied = (page: Page): Promise<string> => page.evaluate('navigator.clipboard.readText()')
  const says = (page: Page, text: string): Promise<void> => page.getByRole('status').filter({ hasText: text }).first().waitFor({ state: 'attached' })

  await t.test('creates a webhook: validates the fields, keeps the input after an error, and shows the secret once', async (t) => {
    const page = await open(t, '#/', { permissions: ['clipboard-read', 'clipboard-write'] })
    await page.getByRole('link', { name: 'Add webhook' }).first().click()
    await heading(page, 'Add a webhook').waitFor()
    await becomes(t, () => focused(page).textContent(), 'Add a webhook')

    await button(page, 'Create webhook').click()
    await page.getByText('Enter a name').waitFor()
    await page.getByText('Enter the URL of your endpoint').waitFor()
    await page.getByText('Choose at least one event').waitFor()
    await becomes(t, () => focused(page).getAttribute('name'), 'name', 'the first field with an error')
    const name = page.getByLabel('Name')
    t.match(await name.evaluate((input) => {
      const root = input.getRootNode() as unknown as { getElementById (id: string): { textContent: string } }
      return root.getElementById(input.getAttribute('aria-describedby')?.split(' ')[1] ?? '').textContent
    }), 'Enter a name')

    await name.fill('CRM sync')
    await page.getByLabel('Endpoint URL').fill('https://10.0.0.1/hook')
    await page.getByLabel('Search events').fill('candidate was')
    await says(page, '5 events found')
    await page.getByRole('checkbox', { name: allOf('candidate') }).check()
    await page.getByRole('checkbox', { name: 'candidate.merged' }).uncheck()
    await page.getByText('4 of 18 selected').waitFor()
    await button(page, exampleOf('candidate.created')).click()
    t.match(await page.getByRole('region', { name: exampleOf('candidate.created') }).textContent(), /"id": 1/)
    await page.getByLabel('Search events').fill('nothing like this')
    await page.getByText('No events match').waitFor()
    await button(page, 'Copy: Notifications come from').click()
    await becomes(t, () => copied(page), '203.0.113.7, 2001:db8::/32')
    await page.getByLabel('Search events').fill('')

    // This vendor sends no error details.
    await button(page, 'Create webhook').click()
    await page.getByText('Use a public host name').waitFor()
    await becomes(t, () => focused(page).getAttribute('name'), 'target_url')
    t.equal(await name.inputValue(), 'CRM sync')
    t.ok(await page.getByRole('checkbox', { name: 'candidate.deleted' }).isChecked())

    await page.getByLabel('Endpoint URL').fill(` ${endpoint('/204')} `)
    await page.keyboard.press('Enter')
    await heading(page, 'Your webhook is ready').waitFor()
    await becomes(t, () => focused(page).textContent(), 'Your webhook is ready')
    await button(page, 'Copy: Signing secret').click()
    await becomes(t, () => copied(page), /^whsec_/)
    const secret = await copied(page)
    t.equal(await page.getByText(secret).count(), 1)
    const { data: [created] } = await webhooks.list('acme', {})
    t.match(created, { name: 'CRM sync', target_url: endpoint('/204'), event_types: ['candidate.anonymized', 'candidate.created', 'candidate.deleted', 'candidate.updated'], status: 'active' })

    for (const [language, excerpt] of [['Python', 'hmac.compare_digest'], ['PHP', 'hash_equals'], ['Go', 'hmac.Equal']] as const) {
      await page.getByText(language, { exact: true }).click()
      t.match(await page.getByRole('region', { name: `Code in ${isolated(language)}` }).textContent(), excerpt)
    }
    await button(page, `Copy: Code in ${isolated('Go')}`).click()
    await becomes(t, () => copied(page), /^package webhooks/)

    await page.evaluate("location.hash = '#/'")
    await dialog(page).getByText('It will not be shown again').waitFor()
    await button(page, 'Stay').click()
    await button(page, 'I have stored it').click()
    await heading(page, 'CRM sync').waitFor()

    await emit({ tenantSlug: 'acme', type: 'candidate.created', data: { id: 7 } })
    await drain()
    const [request] = receiver.requests.slice(-1)
    t.match(new Verifier(secret).verify(request?.body ?? '', request?.headers as Record<string, string>), { data: { id: 7 } })
  })

  await t.test('asks before the user leaves an unsaved form by a link, Back or closing the page', async (t) => {
    const page = await open(t, '#/')
    await page.getByRole('link', { name: 'Add webhook' }).first().click()
    const name = page.getByLabel('Name')
    await name.fill('Half')
    await page.getByRole('navigation', { name: 'Back' }).getByRole('link').click()
    await dialog(page).getByText('Leave without saving?').waitFor()
    await page.keyboard.press('Escape')
    t.equal(await name.inputValue(), 'Half')
    t.match(page.url(), /#\/new$/)
    await page.goBack()
    await button(page, 'Stay').click()
    t.equal(await name.inputValue(), 'Half')
    const asked = page.waitForEvent('dialog')
    const closing = page.close({ runBeforeUnload: true })
    const question = await asked
    t.equal(question.type(), 'beforeunload')
    await question.dismiss()
    await closing
    await page.getByRole('link', { name: 'Cancel' }).click()
    await button(page, 'Leave').click()
    await heading(page, 'Webhooks').waitFor()
    await page.getByRole('link', { name: 'Add webhook' }).first().click()
    await page.getByRole('link', { name: 'Cancel' }).click()
    await heading(page, 'Webhooks').waitFor()
  })

  await t.test('changes a webhook, and sends only changed fields', async (t) => {
    const id = await add('Payrol', '/204')
    const page = await open(t, `#/${id}`)
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByLabel('Name').fill('Payroll')
    const sent = page.waitForRequest((request) => request.method() === 'PATCH')
    await button(page, 'Save changes').click()
    t.strictSame((await sent).postDataJSON(), { name: 'Payroll' })
    await heading(page, 'Payroll').waitFor()
    await says(page, `${isolated('Payroll')} was saved`)
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByRole('checkbox', { name: 'job.closed' }).uncheck()
    await page.getByRole('checkbox', { name: 'job.closed' }).check()
    await button(page, 'Save changes').click()
    await heading(page, 'Payroll').waitFor()
    t.strictSame((await webhooks.find('acme', id))?.event_types, ['job.created', 'job.closed'])
  })

  await t.test('sets, shows and removes a contact and changed fields', async (t) => {
    const id = await add('Alerted', '/204')
    const page = await open(t, `#/${id}`)
    const [contact, changed] = [page.getByLabel('Contact'), page.getByLabel('Changed fields')]
    const save = (): Promise<void> => button(page, 'Save changes').click()
    await page.getByRole('link', { name: 'Edit' }).click()
    await changed.fill(' stage_id,owner_id ')
    await contact.fill('ops')
    await save()
    await page.getByText('Enter an email address').waitFor()
    await contact.fill('ops@example.com')
    await save()
    await page.getByText('ops@example.com', { exact: true }).waitFor()
    await page.getByText('stage_id', { exact: true }).waitFor()
    t.match(await webhooks.find('acme', id), { contact: 'ops@example.com', changed: ['stage_id', 'owner_id'] })
    await page.getByRole('link', { name: 'Edit' }).click()
    t.strictSame([await changed.inputValue(), await contact.inputValue()], ['stage_id, owner_id', 'ops@example.com'])
    await changed.fill('')
    await contact.fill(' ')
    await save()
    await heading(page, 'Alerted').waitFor()
    t.match(await webhooks.find('acme', id), { contact: null, changed: null })
    t.notOk(await page.getByText('ops@example.com').isVisible())
  })

  await t.test('sends a test, and shows the result with advice', async (t) => {
    const id = await add('Tested', '/204')
    const page = await open(t, `#/${id}`)
    await page.getByText('203.0.113.7, 2001:db8::/32', { exact: true }).waitFor()
    await button(page, 'Send a test').click()
    await page.getByLabel('Event type').last().selectOption('job.closed')
    await button(dialog(page), 'Send test').click()
    await dialog(page).getByText(/Delivered: your endpoint returned.*204.*ms/).waitFor()
    t.match(JSON.parse(receiver.requests.at(-1)?.body ?? '{}'), { type: 'job.closed', data: { id: 1 }, test: true })

    await webhooks.update('acme', id, { target_url: endpoint('/401') })
    await button(page, 'Send again').click()
    await dialog(page).getByText(/returned.*401/).waitFor()
    await dialog(page).getByText(/credentials/).waitFor()

    for (const [error, advice] of [
      ['connection', 'your server is running'], ['timeout', 'do the work later'], ['tls', 'certificate'],
      ['blocked', 'Use a public one']
    ] as const) {
      const data = { id: 'evt_1', event_type: 'job.closed', status: 'failed', response_status: null, duration_ms: 10_000, error }
      await page.route('**/dispatch_test', (route) => route.fulfill({ json: { data } }), { times: 1 })
      await button(page, 'Send again').click()
      await dialog(page).getByText(advice).waitFor()
      await dialog(page).getByText(/No response.*10 sec/).waitFor()
    }
    await page.keyboard.press('Escape')
    await becomes(t, () => focused(page).textContent(), 'Send a test')
  })

  await t.test('shows that nothing is sent while the database is a copy', async (t) => {
    const id = await add('Copied', '/204')
    const { find } = holds
    t.teardown(() => { holds.find = find })
    holds.find = async () => ({ reason: 'copy', since: '2026-03-01T09:30:00.000Z' })
    const page = await open(t, `#/${id}`)
    await page.getByText('Held', { exact: true }).waitFor()
    await page.getByText(/^We have stopped all notifications/).waitFor()
    await button(page, 'Send a test').click()
    await button(dialog(page), 'Send test').click()
    await dialog(page).getByText(/^We have stopped all notifications/).waitFor()
    t.notOk(await dialog(page).getByText(/No response/).isVisible())
  })

  await t.test('pauses and resumes with the keyboard only', async (t) => {
    const id = await add('Paused', '/204')
    const page = await open(t, `#/${id}`)
    await button(page, 'Pause').focus()
    await page.keyboard.press('Enter')
    await dialog(page).getByText(/recorded but not sent/).waitFor()
    await button(dialog(page), 'Pause').press('Enter')
    await page.getByText('Paused by your team').waitFor()
    t.equal(await statusOf(id), 'inactive')
    await becomes(t, () => focused(page).textContent(), 'Paused', 'the title has the focus: the button is gone')
    await button(page, 'Resume').press('Enter')
    await page.getByText('Paused by your team').waitFor({ state: 'detached' })
    await says(page, 'is active again')
    t.equal(await statusOf(id), 'active')
    await becomes(t, () => focused(page).textContent(), 'Paused')
  })

  await t.test('shows why a webhook is disabled, and enables it again', async (t) => {
    const id = await add('Gone', '/410')
    await happen()
    const page = await open(t, `#/${id}`)
    await page.getByText('Disabled: your endpoint asked us to stop').waitFor()
    await page.getByText('1 event not delivered').waitFor()
    await webhooks.update('acme', id, { target_url: endpoint('/204') })
    await button(page, 'Enable again').click()
    await page.getByText('Disabled: your endpoint').waitFor({ state: 'detached' })
    t.equal(await statusOf(id), 'active')

    const health = { failing_since: '2026-03-01T09:00:00.000Z', failed_deliveries: 12, paused_until: null, disabled_reason: 'failing' }
    await page.route(`**/webhooks/${id}`, async (route) => {
      const { data } = await (await route.fetch()).json()
      await route.fulfill({ json: { data: { ...data, status: 'disabled', health } } })
    })
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByRole('link', { name: 'Cancel' }).click()
    await page.getByText('Disabled: your endpoint failed for too long').waitFor()
    await page.getByText('12 events not delivered').waitFor()
  })

  await t.test('rotates the secret, and shows until when the old one is valid, on every page of the webhook', async (t) => {
    const id = await add('Rotated', '/204')
    const page = await open(t, `#/${id}`)
    await button(page, 'Rotate secret').click()
    t.ok(await page.getByRole('radio', { name: '24 hours' }).isChecked())
    await page.getByRole('radio', { name: '24 hours' }).press('ArrowUp')
    await button(dialog(page), 'Rotate secret').click()
    await heading(page, 'Your new secret').waitFor()
    await page.getByText(/also signed with the old secret/).waitFor()
    await button(page, 'I have stored it').click()
    await page.getByText(/also signed with the old secret/).waitFor()
    const other = await open(t, `#/${id}`)
    await other.getByText(/also signed with the old secret/).waitFor()
    const reader = await open(t, `#/${id}`, { capabilities: ['read'] })
    await reader.getByText(/also signed with the old secret/).waitFor()

    await happen()
    t.equal(receiver.requests.at(-1)?.headers['webhook-signature']?.toString().split(' ').length, 2)
    await button(page, 'Rotate secret').click()
    await page.getByRole('radio', { name: /Expires immediately/ }).check()
    await button(dialog(page), 'Rotate secret').click()
    await page.getByText('The old secret is no longer valid').waitFor()
  })

  await t.test('deletes a webhook after its name is typed', async (t) => {
    const id = await add('Old intranet', '/204')
    const page = await open(t, `#/${id}`)
    await button(page, 'Delete').click()
    await dialog(page).getByLabel(/Type .*Old intranet.* to confirm/).fill('old')
    await page.keyboard.press('Enter')
    await dialog(page).getByText('The name does not match').waitFor()
    t.equal(await statusOf(id), 'active')
    await dialog(page).getByRole('textbox').fill('Old intranet')
    await button(page, 'Delete webhook').click()
    await heading(page, 'Webhooks').waitFor()
    await says(page, 'was deleted')
    t.equal(await statusOf(id), undefined)
  })

  await t.test('shows each action only to users with its capability', async (t) => {
    const id = await add('Shown', '/204')
    const names = ['Edit', 'Send a test', 'Pause', 'Rotate secret', 'Delete', 'Add webhook']
    for (const [capabilities, place, expected] of [
      [['read'], `#/${id}`, []],
      [['read', 'test'], `#/${id}`, ['Send a test']],
      [['read', 'write', 'secrets'], `#/${id}`, ['Edit', 'Pause', 'Rotate secret', 'Delete']],
      [['read'], `#/${id}/edit`, []]
    ] as const) {
      const page = await open(t, place, { capabilities })
      await heading(page, 'Shown').waitFor()
      const shown = await page.locator('a, button').allTextContents()
      t.strictSame(names.filter((name) => shown.includes(name)), expected, `${capabilities} at ${place}`)
    }
    const page = await open(t, `#/${id}`, { capabilities: ['read', 'write'] })
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByText('Only people who can see delivery bodies can change it').waitFor()
    t.notOk(await page.getByLabel('Endpoint URL').isEditable())
    await page.getByLabel('Name').fill('Renamed')
    await button(page, 'Save changes').click()
    await heading(page, 'Renamed').waitFor()
    await page.evaluate("location.hash = '#/new'")
    await heading(page, 'Webhooks').waitFor()
    t.equal(await page.getByLabel('Name').count(), 0)
    // A new session does not change the route.
    await page.evaluate(`location.hash = ${JSON.stringify(new URL(await createSession()).hash)}`)
    await button(page, 'Create webhook').waitFor()
  })

  await t.test('is accessible in both themes, and fits 320 pixels', async (t) => {
    const id = await add('Audited', '/500')
    await happen()
    const page = await open(t, '#/new', { ...narrow, isAudited: true })
    const found: string[] = []
    const audit = async (screen: string): Promise<void> => {
      found.push(...(await findViolations(page)).map((problem) => `${screen}: ${problem}`))
      if (await page.evaluate('document.documentElement.scrollWidth > innerWidth')) found.push(`${screen} scrolls sideways`)
    }
    await button(page, exampleOf('job.closed')).click()
    await button(page, 'Create webhook').click()
    await page.getByText('Enter a name').waitFor()
    await audit('form with errors')
    await page.getByLabel('Name').fill('Audited too')
    await page.getByLabel('Endpoint URL').fill(endpoint('/204'))
    await page.getByRole('checkbox', { name: allOf('job') }).check()
    await page.getByRole('navigation', { name: 'Back' }).getByRole('link').click()
    await dialog(page).waitFor()
    await audit('leaving')
    await button(page, 'Stay').click()
    await button(page, 'Create webhook').click()
    await heading(page, 'Your webhook is ready').waitFor()
    await audit('secret')
    await button(page, 'I have stored it').click()
    await heading(page, 'Audited too').waitFor()
    await page.evaluate(`location.hash = '#/${id}'`)
    await page.getByText(/has been failing/).waitFor()
    await audit('endpoint')
    await button(page, 'Send a test').click()
    await button(dialog(page), 'Send test').click()
    await dialog(page).getByText(/500/).waitFor()
    await audit('test')
    for (const action of ['Pause', 'Rotate secret', 'Delete']) {
      await page.keyboard.press('Escape')
      await dialog(page).waitFor({ state: 'detached' })
      await button(page, action).click()
      await dialog(page).waitFor()
      await audit(action)
    }
    t.strictSame(found, [])
  })

  t.strictSame(complaints(), [])
})

const events = {
  ...defaultEvents,
  'application.created': {
    ...defaultEvents['application.created'],
    properties: { id: Type.Integer(), code: Type.String(), stage: Type.Object({ name: Type.String() }) }
  }
}

t.test('filters of a webhook in the portal', { skip: noBrowser }, async (t) => {
  const server = await startPortal(t, { events, errorDetails: true })
  const { webhooks, emit, drain } = server.recruiting
  const happen = (id: number, name: string) => emit({ tenantSlug: 'acme', type: 'application.created', data: { id, code: '7', stage: { name } } })
  for (let id = 1; id <= 4; id++) await happen(id, id === 1 ? 'Offer' : 'Applied')

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  const field = (page: Page, nth: number) => page.getByLabel(`Field of filter ${nth}`)
  const values = (page: Page, nth: number) => page.getByLabel(`Values of filter ${nth}`)
  const read = (page: Page) => page.locator('.filter-row > .hint').allTextContents()
  const counted = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text }).waitFor()
  const saved = async (id: number) => (await webhooks.find('acme', id))?.filters

  await t.test('suggest the fields of events, and show how many recent events match', async (t) => {
    const page = await server.open(t, '#/new')
    await page.getByLabel('Name', { exact: true }).fill('Offers')
    await page.getByLabel('Endpoint URL').fill(server.receiver.url)
    await page.getByRole('checkbox', { name: 'application.created' }).check()
    const offered = () => page.locator('datalist option').evaluateAll((options) => options.map((option) => option.getAttribute('value')))
    await becomes(t, offered, ['data.id', 'data.code', 'data.stage.name'])

    await button(page, 'Add filter').click()
    await field(page, 1).fill('stage')
    await button(page, 'Create webhook').click()
    await page.getByText('Enter the field and the values of each filter').waitFor()
    await values(page, 1).fill('Offer')
    await page.getByText('Start each field with data.').waitFor()
    await field(page, 1).fill('data.stage.name')
    await counted(page, 'The filters match 1 of the last 4 events')
    await values(page, 1).fill('Offer, "Hired, abroad"')
    await counted(page, 'The filters match 1 of the last 4 events')

    await button(page, 'Add filter').click()
    await field(page, 2).fill('data.code')
    await values(page, 2).fill('7, null')
    await becomes(t, () => read(page), [
      `Text: ${isolated('"Offer", "Hired, abroad"')}`, `Text: ${isolated('"7"')} · Empty or missing`
    ])
    await button(page, 'Add filter').click()
    await button(page, 'Remove filter 3').click()

    await button(page, 'Create webhook').click()
    await button(page, 'I have stored it').click()
    await page.getByText('data.stage.name: Offer, "Hired, abroad"', { exact: true }).waitFor()
    await page.getByText('data.code: "7", null', { exact: true }).waitFor()
    t.strictSame(await saved(1), { 'data.stage.name': ['Offer', 'Hired, abroad'], 'data.code': ['7', null] })
    await happen(5, 'Applied')
    await happen(6, 'Offer')
    await drain()
    t.strictSame(server.receiver.requests.map(({ body }) => JSON.parse(body).data.id), [6])
    t.same(server.complaints(), [])
  })
})

t.test('the portal sets headers of a webhook, and marks deprecated events', { skip: noBrowser }, async (t) => {
  const deprecated = { since: '2026-03-01', sunset: '2026-09-01', link: 'https://ats.example/changes' }
  const events = {
    ...defaultEvents,
    'job.updated': { ...defaultEvents['job.updated'], deprecated },
    'job.archived': { ...defaultEvents['job.archived'], deprecated: { since: '2026-03-01' } }
  }
  const { recruiting: { webhooks, emit, drain }, receiver, open, complaints } = await startPortal(t, { events })
  const page = await open(t, '#/new')
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
  // The page's policy blocks the styles that axe sets.
  t.same(complaints(), [])
  t.strictSame(await findViolations(page), [])
  await button('Save changes').click()
  await page.getByRole('heading', { name: 'CRM', level: 1 }).waitFor()
  await emit({ tenantSlug: 'acme', type: 'job.created', data: { id: 2 } })
  await drain()
  t.match(receiver.requests.at(-1)?.headers, { 'x-api-key': 'second', 'x-tenant': undefined })
})

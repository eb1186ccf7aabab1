import type { Route } from 'playwright-core'
import t from 'tap'
import { bearer } from '../../../fixtures/api/app.js'
import { sendMessage } from '../../../fixtures/api/mcp.js'
import { toLoopback } from '../../../fixtures/api/webhook-api.js'
import { findViolations } from '../../../fixtures/browser/axe.js'
import { becomes } from '../../../fixtures/browser/becomes.js'
import { noBrowser } from '../../../fixtures/browser/browser.js'
import { startPortal } from '../../../fixtures/browser/portal-host.js'
import { all, createToken } from '../../../fixtures/portal/sessions.js'
import { memoryKeyLookup } from '../../../../src/storages/memory/index.js'

t.test('the agents in the portal', { skip: noBrowser }, async (t) => {
  const { app, audit, recruiting, receiver, open, complaints } = await startPortal(t, {
    mcp: { events: true },
    delivery: toLoopback,
    keyLookup: memoryKeyLookup([])
  })
  const token = await createToken(app)
  const createKey = async (name: string) => (await app.inject({
    method: 'POST',
    url: '/api/v1/public/acme/api_keys',
    headers: bearer(token),
    payload: { name, scopes: ['webhooks:read', 'webhooks:write'], expires_in_days: 1 }
  })).json<{ data: { id: string, key: string } }>().data
  const [crm, chat] = [await createKey('CRM assistant'), await createKey('Chat')]
  let status = 200
  receiver.answer((response, { body }) => {
    const { challenge } = JSON.parse(body)
    const headers = { 'content-type': 'application/json' }
    response.writeHead(challenge === undefined ? status : 200, headers).end(JSON.stringify({ challenge }))
  })
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
  const subscribe = async (key: string, name: string, filters: object = {}) => {
    const delivery = { mode: 'webhook', url: `${receiver.url}?token=hidden`, secret }
    const { result } = (await sendMessage(app, key, 'events/subscribe', { name, arguments: filters, delivery, cursor: null })).json()
    t.match(result, { id: String })
  }
  const emit = async (type: 'job.closed' | 'job.created') => {
    await recruiting.emit({ tenantSlug: 'acme', type, data: { id: 1 } })
    await recruiting.drain()
  }

  await t.test('without agents, the page explains how they get there; a failure can be retried', async (t) => {
    const page = await open(t, '#/')
    await page.getByRole('link', { name: 'Agents' }).click()
    await page.getByRole('heading', { name: 'No agents yet' }).waitFor()
    await page.route('**/subscriptions?*', (route) => route.fulfill({ status: 500 }))
    await page.getByRole('link', { name: 'Webhooks' }).click()
    await page.getByRole('link', { name: 'Agents' }).click()
    await page.getByRole('alert').filter({ hasText: 'Something went wrong' }).waitFor()
    await page.unroute('**/subscriptions?*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: 'No agents yet' }).waitFor()
  })

  await t.test('a refresh does not interrupt a slow response', async (t) => {
    const page = await open(t, '#/')
    const held: Route[] = []
    await page.route('**/subscriptions?*', (route) => { held.push(route) })
    await page.getByRole('link', { name: 'Agents' }).click()
    await becomes(t, async () => held.length, 1)
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))')
    await held[0]?.continue()
    await page.getByRole('heading', { name: 'No agents yet' }).waitFor()
    t.equal(held.length, 1)
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))')
    await becomes(t, async () => held.length, 2)
  })

  await t.test('shows who receives what, where and until when, and the result of deliveries', async (t) => {
    await subscribe(crm.key, 'job.closed', { id: [1, 2] })
    await subscribe(chat.key, 'job.created')
    await emit('job.closed')
    status = 500
    await emit('job.created')
    const page = await open(t, '#/agents', { isAudited: true, viewport: { width: 320, height: 700 } })
    const row = (name: string) => page.getByRole('listitem').filter({ hasText: name })
    await row('CRM assistant').waitFor()
    const text = await row('CRM assistant').innerText()
    for (const part of ['job.closed', 'data.id: 1, 2', `127.0.0.1:${receiver.port}`, 'Last delivered', 'Active', 'Valid until']) t.match(text, part)
    t.notMatch(text, 'Nothing delivered yet')
    t.match(await row('Chat').innerText(), /Nothing delivered yet[^]*Failing[^]*Returned .500/)
    t.notMatch(await page.locator('recruiting-webhooks').innerText(), 'hidden', 'a token of the address')
    t.notOk(await page.evaluate('document.documentElement.scrollWidth > innerWidth'))
    t.strictSame(await findViolations(page), [])
    await page.setViewportSize({ width: 1280, height: 800 })
    t.strictSame(await findViolations(page), [])
  })

  await t.test('disconnects one after a confirmation', async (t) => {
    const page = await open(t, '#/agents')
    await page.getByRole('button', { name: /^Disconnect .CRM assistant. from .job\.closed/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    t.equal(await page.getByRole('listitem').filter({ hasText: 'CRM assistant' }).count(), 1)
    await page.getByRole('button', { name: /^Disconnect .CRM/ }).click()
    await dialog.getByRole('button', { name: 'Disconnect' }).click()
    await page.getByRole('status').filter({ hasText: 'was disconnected' }).waitFor({ state: 'attached' })
    await page.getByRole('listitem').filter({ hasText: 'CRM assistant' }).waitFor({ state: 'detached' })
    await becomes(t, () => page.locator('recruiting-webhooks :focus').textContent(), 'Agents', 'the title has the focus')
    const { data } = await recruiting.subscriptions.list('acme')
    t.match(data.map(({ event_type: type }) => type), ['job.created'])
    t.match(audit.filter(({ operationId }) => operationId === 'endSubscription'), [{ actor: 'user:17', status: 204, resource: { kind: 'subscription' } }])
  })

  await t.test('an agent that someone else disconnected disappears without an error', async (t) => {
    const page = await open(t, '#/agents')
    const [{ key_id: principal } = { key_id: '' }] = (await recruiting.subscriptions.list('acme')).data
    await page.getByRole('button', { name: /^Disconnect/ }).click()
    await recruiting.subscriptions.end({ tenantSlug: 'acme', principal })
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click()
    await page.getByRole('heading', { name: 'No agents yet' }).waitFor()
  })

  await t.test('without `write` nobody can disconnect, and without `keys` the id of the key is shown', async (t) => {
    await subscribe(crm.key, 'job.closed')
    const page = await open(t, '#/agents', { capabilities: all.filter((name) => name !== 'write' && name !== 'keys') })
    await page.getByRole('listitem').filter({ hasText: crm.id }).waitFor()
    t.equal(await page.getByRole('button', { name: /^Disconnect/ }).count(), 0)
    t.equal(await page.getByRole('link', { name: 'API keys' }).count(), 0)
    t.equal(await page.getByText('CRM assistant').count(), 0)
  })

  t.strictSame(complaints(), [])
})

t.test('without events for agents, the portal has no such page', { skip: noBrowser }, async (t) => {
  const { open, requests } = await startPortal(t, { mcp: true })
  const page = await open(t, '#/agents')
  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
  t.equal(await page.getByRole('link', { name: 'Agents' }).count(), 0)
  t.notOk(requests.some(({ url }) => url.includes('subscriptions')))
})

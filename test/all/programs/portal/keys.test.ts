import t from 'tap'
import { cacheKeyLookup } from '../../../../src/index.js'
import { postgresKeyLookup, postgresStorage } from '../../../../src/storages/postgres/index.js'
import { findViolations } from '../../../fixtures/browser/axe.js'
import { becomes } from '../../../fixtures/browser/becomes.js'
import { noBrowser } from '../../../fixtures/browser/browser.js'
import { startPortal } from '../../../fixtures/browser/portal-host.js'
import { startPostgresHost } from '../../../fixtures/postgres/postgres.js'

t.test('an admin creates, uses, rotates and revokes a key, on PostgreSQL', { skip: noBrowser }, async (t) => {
  const { pool } = await startPostgresHost(t)
  const keyLookup = cacheKeyLookup(postgresKeyLookup(pool), { ttlMs: 0 })
  const storage = postgresStorage(pool)
  const server = await startPortal(t, { storage, keyLookup })
  const page = await server.open(t, '#/keys', { isAudited: true })
  const call = async (key: string, path: string, remoteAddress = '127.0.0.1'): Promise<number> =>
    (
      await server.app.inject({
        url: `/api/v1/public/acme/${path}`,
        headers: { authorization: `Bearer ${key}` },
        remoteAddress
      })
    ).statusCode
  const createWebhook = async (key: string) => (await server.app.inject({
    method: 'POST',
    url: '/api/v1/public/acme/webhooks',
    headers: { authorization: `Bearer ${key}` },
    payload: { name: 'CRM', target_url: 'https://example.com/', event_types: ['job.created'] }
  })).json<{ data: { id: number } }>().data
  const button = (name: string | RegExp) => page.getByRole('button', { name })
  const dialog = page.getByRole('dialog')
  const readKey = async (): Promise<string> => await page.locator('.secret-value code').textContent() ?? ''

  t.equal(await page.getByRole('link', { name: 'API keys' }).getAttribute('aria-current'), 'page')
  await page.getByRole('link', { name: 'Create API key' }).click()
  await button('Create API key').click()
  await page.getByText('Choose at least one scope').waitFor()
  t.equal(
    await page.evaluate('document.activeElement.shadowRoot?.activeElement?.name'),
    'name',
    'the first error has the focus'
  )
  await page.getByLabel('Name').fill('CRM sync')
  for (const scope of ['webhooks:read', 'webhooks:write']) await page.getByLabel(scope).check()
  await page.getByLabel('Networks').fill('127.0.0.0/8')
  await page.getByLabel('Valid for (days)').fill('30')
  t.strictSame(await findViolations(page), [])
  await button('Create API key').click()
  await page.getByRole('heading', { name: 'Your API key is ready' }).waitFor()
  t.strictSame(await findViolations(page), [])
  const key = await readKey()
  t.strictSame(
    [await call(key, 'webhooks'), await call(key, 'api_keys'), await call(key, 'webhooks', '192.0.2.1')],
    [200, 403, 401]
  )
  const kept = await page.evaluate(
    'JSON.stringify([location.href, history.state, { ...localStorage }, { ...sessionStorage }])'
  )
  t.notOk(String(kept).includes(key), 'neither in the history nor in storage')
  await button('I have stored it').click()

  await button(/^Rotate/).click()
  await dialog.getByLabel('1 hour').check()
  await dialog.getByRole('button', { name: 'Rotate' }).click()
  await page.getByText('The old key works until').waitFor()
  const next = await readKey()
  t.not(next, key)
  t.strictSame([await call(key, 'webhooks'), await call(next, 'webhooks')], [200, 200], 'both work')
  await button('I have stored it').click()
  await page.getByText('Replaced').waitFor()
  t.strictSame(await findViolations(page), [])

  const row = page.getByRole('listitem').filter({ hasText: 'Active' })
  const { id } = await createWebhook(next)
  await row.getByRole('button', { name: /^Revoke/ }).click()
  await dialog.getByLabel('Also revoke the keys that it created').check()
  await dialog.getByLabel('Also disable the webhooks that it created').check()
  t.strictSame(await findViolations(page), [])
  await dialog.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('listitem').filter({ hasText: 'Revoked' }).waitFor()
  await becomes(t, () => page.locator('recruiting-webhooks :focus').textContent(), 'API keys', 'the title has the focus')
  t.strictSame([await call(key, 'webhooks'), await call(next, 'webhooks')], [200, 401])
  t.match(await server.app.recruiting.webhooks.find('acme', id), { status: 'inactive', created_by: { type: 'key' } })
})

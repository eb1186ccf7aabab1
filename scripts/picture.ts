// Takes the README's screenshots: docs/demo.png, the demo page with a retried delivery, and docs/portal.png, the portal
// with a failing webhook.
//
// Needs Chromium and fonts for all scripts of the generated names; otherwise names appear as boxes. On Debian:
//
//   apt-get install chromium fontconfig fonts-noto-core fonts-noto-cjk

import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { demoKeys } from '../examples/demo/ats/keys.js'
import { namePools } from '../examples/demo/data/names.js'
import { runExample } from '../test/fixtures/examples/run-example.js'
import { noBrowser, startBrowser, visit } from '../test/fixtures/browser/browser.js'

if (noBrowser !== false) throw new Error(noBrowser)
for (const { given, family } of namePools) requireFont([...given, ...family].join(''))

const cleanups: Array<() => unknown> = []
const t = { teardown: (end: () => unknown) => cleanups.unshift(end) }
try {
  const demo = runExample(t, 'demo/start.ts', { PORT: '0', RECEIVER_PORT: '0', EVERY_MS: '1500' })
  const [, url = ''] = await demo.output(/Open this +(\S+)/)
  const browser = await startBrowser(t)
  const look = { viewport: { width: 1280, height: 1060 }, deviceScaleFactor: 1.5, reducedMotion: 'reduce' } as const
  const { page } = await visit(browser, url, look)
  const take = async (page: Page, name: string): Promise<void> => {
    await page.mouse.move(0, 0)
    await page.screenshot({ path: fileURLToPath(new URL(`../docs/${name}.png`, import.meta.url)) })
  }
  const press = (name: string): Promise<void> => page.getByRole('button', { name }).first().click()
  const hires = await createWebhook(url)
  await page.waitForTimeout(20_000)
  await press('Pause background activity')
  for (let hire = 0; hire < 2; hire++) await press('Hire someone')
  await page.waitForTimeout(5000)
  await press('Broken')
  await press('New application')
  await page.waitForTimeout(1500)
  await press('Working')
  await page.waitForTimeout(5000)
  await press('Forge a delivery')
  const frame = page.frameLocator('iframe')
  await frame.getByText('Demo receiver').click()
  await frame.getByRole('article').filter({ hasText: '2 attempts' }).first().getByRole('link').click()
  await frame.getByText('Attempt 2').waitFor()
  await page.evaluate('document.activeElement.blur(), scrollTo(0, 0)')
  await take(page, 'demo')

  await press('Broken')
  await press('Hire someone')
  await page.waitForTimeout(12_000)
  await press('Hire someone')
  await page.waitForTimeout(1000)
  const { page: portal } = await visit(browser, `${new URL(await createSession(url), url)}`, {
    ...look,
    viewport: { width: 1280, height: 1000 }
  })
  await portal.getByText(hires).click()
  await portal.getByText('Failing').first().waitFor()
  await portal.waitForTimeout(1000)
  await take(portal, 'portal')
  await demo.end('SIGTERM')
} finally {
  for (const end of cleanups) await end()
}

/** Creates a webhook for hires whose secret the receiver accepts, and returns its name. */
async function createWebhook (url: string): Promise<string> {
  const name = 'CRM sync'
  const { receiverUrl } = await (await fetch(`${url}demo/setting`)).json() as { receiverUrl: string }
  const { data: { secret } } = (await post(`${url}api/v1/public/acme/webhooks`, {
    name,
    target_url: `${receiverUrl}/acme/crm`,
    event_types: ['application.hired']
  })) as { data: { secret: string } }
  await post(`${url}demo/receiver/trust`, { tenant: 'acme', secret })
  return name
}

/** Returns the portal's URL with a session. */
async function createSession (url: string): Promise<string> {
  return (
    (await post(`${url}demo/portal/session`, { tenant: 'acme', actor: 'admin', locale: 'en' })) as { url: string }
  ).url
}

async function post (url: string, body: object): Promise<unknown> {
  const headers = { authorization: `Bearer ${demoKeys.acme.key}`, 'content-type': 'application/json' }
  return await (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json()
}

/** Throws unless a font has all of these characters. */
function requireFont (text: string): void {
  const codes = [...new Set(text)].map((character) => character.codePointAt(0)?.toString(16))
  if (execFileSync('fc-list', [`:charset=${codes.join(' ')}`]).length === 0) {
    throw new Error(`no font has all of ${text}: see the top of this file`)
  }
}

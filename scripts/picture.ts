// Takes the pictures in the README: docs/demo.png, the demo page after two minutes of use, and docs/portal.png, the portal on its
// settings page with a webhook that fails.
//
// It needs Chromium and fonts for all scripts of the invented names; otherwise names show as boxes. On Debian:
//
//   apt-get install chromium fontconfig fonts-noto-core fonts-noto-cjk

import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { namePools } from '../examples/demo/data/names.js'
import { runExample } from '../test/examples/fixtures/run-example.js'
import { noBrowser, startBrowser, visit } from '../test/fixtures/browser/browser.js'

if (noBrowser !== false) throw new Error(noBrowser)
for (const { given, family } of namePools) requireFont([...given, ...family].join(''))

const cleanups: Array<() => unknown> = []
const t = { teardown: (end: () => unknown) => cleanups.unshift(end) }
try {
  const demo = runExample(t, 'demo/start.ts', { PORT: '0', RECEIVER_PORT: '0', EVERY_MS: '1500' })
  const [, url = ''] = await demo.output(/Open this +(\S+)/)
  const { page } = await visit(await startBrowser(t), url, {
    viewport: { width: 1280, height: 1060 }, deviceScaleFactor: 1.5, reducedMotion: 'reduce'
  })
  const take = async (name: string): Promise<void> => {
    await page.mouse.move(0, 0)
    await page.screenshot({ path: fileURLToPath(new URL(`../docs/${name}.png`, import.meta.url)) })
  }
  const press = (name: string): Promise<void> => page.getByRole('button', { name }).first().click()
  await page.waitForTimeout(45_000)
  await press('Broken')
  await page.waitForTimeout(20_000)
  await press('Working')
  await press('Replay Demo receiver')
  await page.waitForTimeout(35_000)
  await press('Broken')
  await page.waitForTimeout(9000)
  await press('Working')
  await press('Forge a delivery')
  await press('Pause background activity')
  await press('Hire somebody')
  await press('Replay Demo receiver')
  await page.waitForTimeout(1000)
  await page.evaluate('document.activeElement.blur(), scrollTo(0, 0)')
  await take('demo')

  await press('New webhook')
  await page.locator('#create [name=events]').selectOption({ label: 'Hires only' })
  await press('Create webhook')
  await page.locator('#webhooks').getByText('Its secret, shown only now').waitFor()
  for (let hire = 0; hire < 3; hire++) await press('Hire somebody')
  await page.waitForTimeout(3000)
  await press('Broken')
  await press('Hire somebody')
  await page.waitForTimeout(12_000)
  await press('Hire somebody')
  await page.waitForTimeout(1000)
  await page.setViewportSize({ width: 1280, height: 1220 })
  await page.goto(`${url}settings/`)
  const portal = page.frameLocator('iframe')
  await portal.getByText('CRM sync').click()
  await portal.getByText('Failing').first().waitFor()
  await page.waitForTimeout(1000)
  await take('portal')
  await demo.end('SIGTERM')
} finally {
  for (const end of cleanups) await end()
}

/** Throws unless a font has all of these characters. */
function requireFont (text: string): void {
  const codes = [...new Set(text)].map((character) => character.codePointAt(0)?.toString(16))
  if (execFileSync('fc-list', [`:charset=${codes.join(' ')}`]).length === 0) throw new Error(`no font has all of ${text}: see the top of this file`)
}

// Takes docs/demo.png, the picture of the README: the demo page after somebody has played with it for a minute.

import { fileURLToPath } from 'node:url'
import { runExample } from '../test/examples/fixtures/run-example.js'
import { noBrowser, startBrowser, visit } from '../test/fixtures/browser.js'

if (noBrowser !== false) throw new Error(noBrowser)

const cleanups: Array<() => unknown> = []
const t = { teardown: (end: () => unknown) => cleanups.unshift(end) }
try {
  const demo = runExample(t, 'demo/start.ts', { PORT: '0', RECEIVER_PORT: '0', EVERY_MS: '1500' })
  const [, url = ''] = await demo.output(/Open this +(\S+)/)
  const viewport = { width: 1440, height: 1010 }
  const { page } = await visit(await startBrowser(t), url, { viewport, deviceScaleFactor: 1.5, reducedMotion: 'reduce' })
  const press = (name: string): Promise<void> => page.getByRole('button', { name }).first().click()
  await page.waitForTimeout(30_000)
  await press('Break the receiver')
  await page.waitForTimeout(25_000)
  await press('Replay Demo receiver')
  await press('Rotate secret Demo receiver')
  await page.getByLabel('Search').fill('ar')
  await page.waitForTimeout(30_000)
  await press('Forge a delivery')
  await press('New application')
  await page.waitForTimeout(3000)
  await page.evaluate('scrollTo(0, 0)')
  await page.screenshot({ path: fileURLToPath(new URL('../docs/demo.png', import.meta.url)) })
  await demo.end('SIGTERM')
} finally {
  for (const end of cleanups) await end()
}

import type { Locator, Page } from 'playwright-core'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { findViolations, readAxe } from '../fixtures/browser/axe.js'
import { becomes } from '../fixtures/browser/becomes.js'
import { noBrowser, visit } from '../fixtures/browser/browser.js'
import { openDemo, phone, wide } from '../fixtures/browser/demo-page.js'

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

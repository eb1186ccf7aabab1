import type { Locator, Page } from 'playwright-core'
import t from 'tap'
import { findViolations } from '../fixtures/browser/axe.js'
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
  const { page, browser, url, says, press, rows } = await openDemo(t)

  await t.test('buttons, inbox and replay share a laptop’s screen, and no button wraps alone', async (t) => {
    await rows('204 in')
    const inbox = await measure(page.locator('#inbox'))
    const replay = await measure(page.getByRole('button', { name: 'Replay' }))
    t.ok(inbox.bottom < wide.height, `the inbox ends at ${inbox.bottom}`)
    t.ok(replay.bottom < wide.height, `Replay ends at ${replay.bottom}`)
    for (const group of ['.actions > .buttons button', '#webhooks .buttons button']) {
      const tops = await page.locator(group).evaluateAll((buttons) => buttons.map((button) => (button as unknown as { offsetTop: number }).offsetTop))
      t.equal(new Set(tops).size, 1, group)
    }
  })

  await t.test('on a phone the actions and the inbox come first', async (t) => {
    await page.setViewportSize(phone)
    const actions = await measure(page.locator('[data-action=hire]'))
    t.ok(actions.bottom < phone.height / 2, `Hire somebody ends at ${actions.bottom}`)
    const tops = await Promise.all(['.actions', '.deliveries', '#webhooks', '#rows'].map(async (selector) => (await measure(page.locator(selector))).top))
    t.same(tops, tops.toSorted((a, b) => a - b))
  })

  await t.test('nothing scrolls sideways from 320 px', async (t) => {
    await press('New webhook')
    for (const width of [320, 360, 390, 600, 768, 992, 1280, 1920]) {
      await page.setViewportSize({ width, height: 800 })
      t.notOk(await doesScrollSideways(page), `${width} px`)
    }
  })

  await t.test('the dialog keeps the focus, and gives it back', async (t) => {
    await page.setViewportSize(wide)
    await press('Delete Demo receiver')
    await says('#confirm', 'Delete Demo receiver?')
    t.equal(await page.evaluate('document.activeElement.textContent'), 'Cancel')
    await page.keyboard.press('Escape')
    t.match(await page.evaluate('document.activeElement.textContent'), /^Delete/)
  })

  await t.test('it is accessible: light and dark, wide and narrow', async (t) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const viewport of [wide, phone]) {
        const { page } = await visit(browser, url, { colorScheme, viewport, reducedMotion: 'reduce' })
        const name = `${colorScheme}, ${viewport.width} wide`
        const click = (label: string): Promise<void> => page.getByRole('button', { name: label }).first().click()
        await click('Forge a delivery')
        await click('New webhook')
        await page.locator('#inbox > li').filter({ hasText: 'not verified' }).first().locator('summary').click()
        await page.locator('#inbox > li').filter({ hasText: '204 in' }).first().locator('summary').click()
        t.same(await findViolations(page), [], name)
        await click('Delete Demo receiver')
        await page.locator('#confirm[open]').waitFor()
        t.same(await findViolations(page), [], `${name}, with the dialog`)
        await page.context().close()
      }
    }
  })
})

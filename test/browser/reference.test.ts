import t from 'tap'
import { runExample } from '../examples/fixtures/run-example.js'
import { noBrowser, startBrowser, visit } from '../fixtures/browser.js'

t.test('the reference page shows every operation and every event, and asks for nothing elsewhere', { skip: noBrowser }, async (t) => {
  const example = runExample(t, '07-reference-page.ts', { PORT: '0' })
  const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
  const { page, strayRequests, errors } = await visit(await startBrowser(t), `${origin}/reference/`)

  await page.getByText('candidate.anonymized').first().waitFor()
  t.equal(await page.locator('.opblock').count(), 12 + 18)
  t.same(strayRequests, [])
  t.same(errors, [])

  await page.locator('#operations-candidates-listCandidates .opblock-summary-control').click()
  await page.getByText('Needs candidates:read or candidates:write.').waitFor()
  t.equal(await example.end('SIGTERM'), 0)
})

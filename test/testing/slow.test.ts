import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { memoryStorage } from '../../src/memory/index.js'
import type { RestingTenant } from '../../src/ports/index.js'
import { type CaseResult, runCases, storageCases } from '../../src/testing/index.js'

const cases = storageCases.filter(({ name }) => name === 'a removed tenant rests for the given time')

/** Runs the case on a storage that takes longer to list the resting tenants than the short rest of the case. */
function runSlowly (listed: (resting: RestingTenant[]) => RestingTenant[]): Promise<CaseResult[]> {
  return runCases(cases, () => {
    const storage = memoryStorage()
    const { webhooks } = storage
    async function listResting (): Promise<RestingTenant[]> {
      await sleep(25)
      return listed(await webhooks.listResting())
    }
    return { storage: { ...storage, webhooks: { ...webhooks, listResting } }, saveCandidates () {}, saveJobs () {} }
  })
}

t.test('a storage that answers after the end of a short rest passes', async (t) => {
  t.strictSame((await runSlowly((resting) => resting)).map(({ error }) => error), [null])
})

t.test('a storage whose tenants never rest is caught, however slow it is', async (t) => {
  t.match(await runSlowly(() => []), [{ error: { message: /^the resting tenants/ } }])
})

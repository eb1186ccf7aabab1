import t from 'tap'
import { memoryStorage } from '../../src/memory/index.js'
import { runCases, storageCases } from '../../src/testing/index.js'
import type { StorageHarness } from '../../src/testing/index.js'
import { createManualClock } from '../fixtures/manual-clock.js'

const names = [
  'an event is kept with the host\'s transaction, or refused by a storage that has none',
  'a subject is erased with the host\'s transaction, or not at all by a storage that has none'
]
const cases = storageCases.filter(({ name }) => names.includes(name))

type Work = Array<() => Promise<unknown>>

/** A storage whose transactions do their work when they are committed, or at once if it is mistaken. */
function makeTransactional ({ isMistaken = false } = {}): StorageHarness {
  const clock = createManualClock()
  const storage = memoryStorage({ clock })
  const { deliveries } = storage
  const doIn = async <Result>(transaction: unknown, work: () => Promise<Result>, promised: Result): Promise<Result> => {
    if (!Array.isArray(transaction) || isMistaken) return work()
    transaction.push(work)
    return promised
  }
  return {
    storage: {
      ...storage,
      deliveries: {
        ...deliveries,
        record: (tenantSlug, event, transaction) => doIn(transaction, () => deliveries.record(tenantSlug, event), { ...event, deliveries: 1 }),
        erase: (tenantSlug, subject, transaction) => doIn(transaction, () => deliveries.erase(tenantSlug, subject), 1)
      }
    },
    saveCandidates () {},
    saveJobs () {},
    advance: (ms) => clock.advance(ms),
    async begin () {
      const transaction: Work = []
      return {
        transaction,
        async commit () { for (const work of transaction) await work() },
        async rollback () {}
      }
    }
  }
}

t.test('a storage that takes part in the host\'s transactions passes', async (t) => {
  const results = await runCases(cases, makeTransactional)
  t.strictSame(results.map(({ error }) => error), [null, null])
})

t.test('a storage that does the work at once is caught', async (t) => {
  const results = await runCases(cases, () => makeTransactional({ isMistaken: true }))
  t.strictSame(results.filter(({ error }) => error !== null).map(({ name }) => name), names)
})

import t from 'tap'
import { memoryStorage } from '../../src/memory/index.js'
import { runCases, storageCases } from '../../src/testing/index.js'
import type { StorageHarness } from '../../src/testing/index.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'

const namesOfWork = [
  'an event commits with the host\'s transaction, or is rejected by a storage without transactions',
  'erasing commits with the host\'s transaction, or is rejected by a storage without transactions'
]
const namesOfEnd = [
  'record rejects a transaction that has ended',
  'erase rejects a transaction that has ended'
]
const names = [...namesOfWork, ...namesOfEnd]
const cases = storageCases.filter(({ name }) => names.includes(name))

interface Work {
  isOpen: boolean
  steps: Array<() => Promise<unknown>>
}

/** A storage whose transactions do their work when they are committed, unless it is mistaken. */
function makeTransactional ({ isEarly = false, isLate = false } = {}): StorageHarness {
  const clock = createManualClock()
  const storage = memoryStorage({ clock })
  const { deliveries } = storage
  const doIn = async <Result>(transaction: unknown, work: () => Promise<Result>, promised: Result): Promise<Result> => {
    if (transaction === undefined) return work()
    const { isOpen, steps } = transaction as Work
    if (!isOpen && !isLate) throw new Error('the transaction has ended')
    if (!isOpen || isEarly) return work()
    steps.push(work)
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
      const transaction: Work = { isOpen: true, steps: [] }
      return {
        transaction,
        async commit () {
          transaction.isOpen = false
          for (const work of transaction.steps) await work()
        },
        async rollback () { transaction.isOpen = false }
      }
    }
  }
}

t.test('a storage that takes part in the host\'s transactions passes', async (t) => {
  const results = await runCases(cases, makeTransactional)
  t.strictSame(results.map(({ error }) => error), names.map(() => null))
})

t.test('a storage that does the work at once is caught', async (t) => {
  const results = await runCases(cases, () => makeTransactional({ isEarly: true }))
  t.strictSame(results.filter(({ error }) => error !== null).map(({ name }) => name), namesOfWork)
})

t.test('a storage that takes transactions that have ended is caught', async (t) => {
  const results = await runCases(cases, () => makeTransactional({ isLate: true }))
  t.strictSame(results.filter(({ error }) => error !== null).map(({ name }) => name), namesOfEnd)
})

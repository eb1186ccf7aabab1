import t from 'tap'
import { keyLookupCases, runCases, storageCases, type StorageHarness } from '../../src/testing/index.js'
import { memoryStorage } from '../../src/memory/index.js'
import { namedTenants } from '../../src/testing/support/ids.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'
import { makeMemoryHarness } from '../fixtures/delivery/memory-harness.js'

const cases = [...storageCases, ...keyLookupCases]

t.test('every case has a name of its own', async (t) => {
  const names = cases.map(({ name }) => name)
  t.strictSame(names.filter((name, index) => names.indexOf(name) !== index), [])
})

t.test('every case has one of the groups', async (t) => {
  t.strictSame([...new Set(cases.map(({ group }) => group))], ['lists', 'webhooks', 'deliveries', 'tenancy', 'races', 'sync', 'idempotency', 'keys'])
})

t.test('methods that a storage does not have stay missing', async (t) => {
  const storage = memoryStorage()
  const { listAfter: _, ...candidates } = storage.candidates
  const harness = { storage: { ...storage, candidates }, tenantId: (name: string) => `id-${name}`, saveCandidates () {}, saveJobs () {} }
  const named = namedTenants(harness)
  t.equal(named.storage.candidates.listAfter, undefined)
  t.type(named.storage.jobs.listAfter, 'function')
})

const namesOfWork = [
  'an event commits with the host\'s transaction, or is rejected by a storage without transactions',
  'erasing commits with the host\'s transaction, or is rejected by a storage without transactions'
]
const namesOfEnd = [
  'record rejects a transaction that has ended',
  'erase rejects a transaction that has ended'
]
const names = [...namesOfWork, ...namesOfEnd]
const transactionCases = storageCases.filter(({ name }) => names.includes(name))

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
        record: (tenantSlug, event, transaction) =>
          doIn(transaction, () => deliveries.record(tenantSlug, event), { ...event, deliveries: 1 }),
        erase: (tenantSlug, subject, transaction) =>
          doIn(transaction, () => deliveries.erase(tenantSlug, subject), { events: 1, truncated: false })
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
        async rollback () {
          transaction.isOpen = false
        }
      }
    }
  }
}

t.test('a storage that takes part in the host\'s transactions passes', async (t) => {
  const results = await runCases(transactionCases, makeTransactional)
  t.strictSame(results.map(({ error }) => error), names.map(() => null))
})

t.test('a storage that does the work at once is caught', async (t) => {
  const results = await runCases(transactionCases, () => makeTransactional({ isEarly: true }))
  t.strictSame(results.filter(({ error }) => error !== null).map(({ name }) => name), namesOfWork)
})

t.test('a storage that takes transactions that have ended is caught', async (t) => {
  const results = await runCases(transactionCases, () => makeTransactional({ isLate: true }))
  t.strictSame(results.filter(({ error }) => error !== null).map(({ name }) => name), namesOfEnd)
})

const verifyCases = storageCases.filter(({ port }) => port === 'verify')

function makeHarness (verify: () => Promise<string[]>): StorageHarness {
  const harness = makeMemoryHarness()
  return { ...harness, storage: { ...harness.storage, verify } }
}

async function failures (verify: () => Promise<string[]>): Promise<Array<string | undefined>> {
  return (await runCases(verifyCases, () => makeHarness(verify))).map(({ error }) => error?.message.split('\n')[0])
}

t.test('a storage may give warnings each time it is asked', async (t) => {
  t.strictSame(await failures(async () => ['an index is missing']), [undefined])
})

t.test('a storage that can be asked only once is caught', async (t) => {
  let asked = 0
  t.strictSame(await failures(async () => asked++ === 0 ? [] : Promise.reject(new Error('asked twice'))), ['asked twice'])
})

t.test('warnings that are not strings are caught', async (t) => {
  t.strictSame(await failures(async () => JSON.parse('[5]')), ['the warnings that are not strings'])
})

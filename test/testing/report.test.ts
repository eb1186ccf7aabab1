import { AssertionError } from 'node:assert'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { type CaseResult, formatReport, runCases, type StorageCase, storageCases, type StorageHarness } from '../../src/tools/testing/index.js'
import { benchCases } from '../../src/tools/testing/support/driver.js'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { makeMemoryHarness } from '../fixtures/delivery/memory-harness.js'

function makeForgetful (): StorageHarness {
  const { storage, ...harness } = makeMemoryHarness()
  return {
    ...harness,
    storage: {
      ...storage,
      jobs: {
        ...storage.jobs,
        list: (tenantSlug, { filter: { status, ...filter }, ...query }) =>
          storage.jobs.list(tenantSlug, { ...query, filter })
      }
    }
  }
}

t.test("a report has the number of passes, and each failure's method, expected and actual value", async (t) => {
  const names = ['jobs: status is compared exactly', 'every listener is called for a recorded event until it is stopped', 'jobs: rows can be sorted by status']
  const cases = storageCases.filter(({ name }) => names.includes(name))

  t.equal(formatReport(await runCases(cases, makeForgetful)), `FAILED  lists       1 of 2
ok      deliveries  1 of 1

1 of 3 cases failed.

1. lists: jobs: status is compared exactly
   method    jobs.list
   compared  the jobs with status "published"
   expected  [ 1 ]
   got       [ 1, 2, 3, 4, 5, 6, 7, 8 ]
`)
})

t.test('a report without failures is short', async (t) => {
  const cases = storageCases.filter(({ group }) => group === 'webhooks').slice(0, 2)
  t.equal(formatReport(await runCases(cases, makeMemoryHarness)), 'ok      webhooks    2 of 2\n\nAll 2 cases passed.\n')
})

t.test('a long value is shown on several lines', async (t) => {
  const long = Array.from({ length: 3 }, (_, id) => ({ id, name: 'x'.repeat(40) }))
  const error = new AssertionError({ message: 'the rows', actual: long, expected: [], operator: 'deepStrictEqual' })
  const report = formatReport([{ group: 'lists', name: 'rows', port: 'jobs.list', durationMs: 1, error }])

  t.match(report, `   expected  []
   got       [
               { id: 0, name: '${'x'.repeat(40)}' },
`)
})

t.test('a stack that many cases share is shown once', async (t) => {
  const base = { group: 'lists', name: 'rows', port: 'jobs.list', durationMs: 1 }
  const report = formatReport([{ ...base, error: new Error('no such table') }, { ...base, error: new Error('no such table') }])

  t.match(report, /1\. .*\n.*\n {3}threw {5}Error: no such table\n {17}at /)
  t.match(report, /2\. .*\n.*\n {3}threw {5}no such table, as in 1\n$/)
})

t.test('an error thrown by a storage is shown with its stack', async (t) => {
  const base = { group: 'keys', name: 'a key is found', port: 'keyLookup', durationMs: 1 }
  const error = new TypeError('no such column')
  error.stack = 'TypeError: no such column\n    at find (keys.js:1:1)'
  const bare = new Error('bare')
  delete bare.stack
  const results: CaseResult[] = [{ ...base, error }, { ...base, error: bare }]

  t.equal(formatReport(results), `FAILED  keys        0 of 2

2 of 2 cases failed.

1. keys: a key is found
   method    keyLookup
   threw     TypeError: no such column
                 at find (keys.js:1:1)

2. keys: a key is found
   method    keyLookup
   threw     Error: bare
`)
})

const head = { port: 'deliveries.stats' }

function makeCase (name: string, body: () => Promise<void>): StorageCase {
  return benchCases('deliveries')('stats', name, body)
}

t.test('each case runs on its own harness, which is closed even after a failure', async (t) => {
  const closed: number[] = []
  let made = 0
  const make = async (): Promise<StorageHarness> => {
    const number = ++made
    return { ...makeMemoryHarness(), close: async () => { closed.push(number) } }
  }
  const error = new Error('broken')
  const results = await runCases([
    makeCase('passes', async () => {}),
    makeCase('fails', () => Promise.reject(error)),
    makeCase('throws text', async () => Promise.reject('text')) // eslint-disable-line prefer-promise-reject-errors
  ], make)

  t.strictSame(closed, [1, 2, 3])
  t.strictSame(results.map(({ durationMs, ...result }) => result), [
    { group: 'deliveries', ...head, name: 'passes', error: null },
    { group: 'deliveries', ...head, name: 'fails', error },
    { group: 'deliveries', ...head, name: 'throws text', error: new Error('text') }
  ])
  t.ok(results.every(({ durationMs }) => durationMs >= 0))
})

t.test('a harness that cannot be created fails its case', async (t) => {
  const results = await runCases([makeCase('passes', async () => {})], () => { throw new Error('no database') })
  t.strictSame(results.map(({ error }) => error?.message), ['no database'])
})

t.test('a hanging case times out, and the next one runs', async (t) => {
  const cases = [makeCase('hangs', () => new Promise(() => {})), makeCase('passes', async () => {})]
  const results = await runCases(cases, makeMemoryHarness, { timeoutMs: 10 })
  t.strictSame(results.map(({ error }) => error?.message), ['the case did not finish within 10 ms', undefined])
})

t.test('a storage that lists resting tenants slowly passes', async (t) => {
  const cases = storageCases.filter(({ name }) => name === 'a removed tenant rests for the given time')
  const results = await runCases(cases, () => {
    const storage = memoryStorage()
    const { webhooks } = storage
    const listStates = async () => sleep(25, await webhooks.listStates())
    return { storage: { ...storage, webhooks: { ...webhooks, listStates } }, saveCandidates () {}, saveJobs () {} }
  })
  t.strictSame(results.map(({ error }) => error), [null])
})

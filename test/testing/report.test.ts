import { AssertionError } from 'node:assert'
import t from 'tap'
import { formatReport, runCases, storageCases } from '../../src/testing/index.js'
import type { CaseResult, StorageHarness } from '../../src/testing/index.js'
import { makeMemoryHarness } from '../fixtures/delivery/memory-harness.js'

function makeForgetful (): StorageHarness {
  const { storage, ...harness } = makeMemoryHarness()
  return {
    ...harness,
    storage: {
      ...storage,
      jobs: { ...storage.jobs, list: (tenantSlug, { filter: { status, ...filter }, ...query }) => storage.jobs.list(tenantSlug, { ...query, filter }) }
    }
  }
}

t.test('a report counts passes and shows, for each failure, the sentence of the port, the expected and the actual value', async (t) => {
  const names = ['jobs: status is compared exactly', 'every listener is called for a recorded event', 'jobs: rows can be ordered by status']
  const cases = storageCases.filter(({ name }) => names.includes(name))

  t.equal(formatReport(await runCases(cases, makeForgetful)), `FAILED  lists       1 of 2
ok      deliveries  1 of 1

1 of 3 cases failed.

1. lists: jobs: status is compared exactly
   method    jobs.list
   port      Only jobs whose status is exactly this, 1 to 64 characters.
   compared  the jobs with status "published"
   expected  [ 1 ]
   got       [ 1, 2, 3, 4, 5, 6, 7, 8 ]
`)
})

t.test('a report without failures says that all cases passed', async (t) => {
  const cases = storageCases.filter(({ group }) => group === 'webhooks').slice(0, 2)
  t.equal(formatReport(await runCases(cases, makeMemoryHarness)), 'ok      webhooks    2 of 2\n\nAll 2 cases passed.\n')
})

t.test('a value that does not fit into a line is shown in several', async (t) => {
  const long = Array.from({ length: 3 }, (_, id) => ({ id, name: 'x'.repeat(40) }))
  const error = new AssertionError({ message: 'the rows', actual: long, expected: [], operator: 'deepStrictEqual' })
  const report = formatReport([{ group: 'lists', name: 'rows', port: 'jobs.list', says: 'Rows.', durationMs: 1, error }])

  t.match(report, `   expected  []
   got       [
               { id: 0, name: '${'x'.repeat(40)}' },
`)
})

t.test('the stack of an error that many cases share is shown once', async (t) => {
  const base = { group: 'lists', name: 'rows', port: 'jobs.list', says: 'Rows.', durationMs: 1 }
  const report = formatReport([{ ...base, error: new Error('no such table') }, { ...base, error: new Error('no such table') }])

  t.match(report, /1\. .*\n.*\n.*\n {3}threw {5}Error: no such table\n {17}at /)
  t.match(report, /2\. .*\n.*\n.*\n {3}threw {5}no such table, as in 1\n$/)
})

t.test('an error thrown by a storage is shown with its stack', async (t) => {
  const base = { group: 'keys', name: 'a key is found', port: 'keyLookup', says: 'Finds it.', durationMs: 1 }
  const error = new TypeError('no such column')
  error.stack = 'TypeError: no such column\n    at find (keys.js:1:1)'
  const bare = new Error('bare')
  delete bare.stack
  const results: CaseResult[] = [{ ...base, error }, { ...base, error: bare }]

  t.equal(formatReport(results), `FAILED  keys        0 of 2

2 of 2 cases failed.

1. keys: a key is found
   method    keyLookup
   port      Finds it.
   threw     TypeError: no such column
                 at find (keys.js:1:1)

2. keys: a key is found
   method    keyLookup
   port      Finds it.
   threw     Error: bare
`)
})

import t from 'tap'
import { runCases } from '../../src/testing/index.js'
import { benchCase } from '../../src/testing/support/driver.js'
import type { StorageHarness } from '../../src/testing/index.js'
import { makeMemoryHarness } from '../fixtures/delivery/memory-harness.js'

const head = { port: 'deliveries.stats', says: 'All times come from the storage\'s own clock.' }

function makeCase (name: string, body: () => Promise<void>): ReturnType<typeof benchCase> {
  return benchCase('deliveries', { ...head, name }, body)
}

t.test('each case runs on a harness of its own, which is closed, well or not', async (t) => {
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
    makeCase('fails with a text', async () => Promise.reject('text')) // eslint-disable-line prefer-promise-reject-errors
  ], make)

  t.strictSame(closed, [1, 2, 3])
  t.strictSame(results.map(({ durationMs, ...result }) => result), [
    { group: 'deliveries', ...head, name: 'passes', error: null },
    { group: 'deliveries', ...head, name: 'fails', error },
    { group: 'deliveries', ...head, name: 'fails with a text', error: new Error('text') }
  ])
  t.ok(results.every(({ durationMs }) => durationMs >= 0))
})

t.test('a harness that cannot be made fails its case', async (t) => {
  const results = await runCases([makeCase('passes', async () => {})], () => { throw new Error('no database') })
  t.strictSame(results.map(({ error }) => error?.message), ['no database'])
})

t.test('a case that does not end fails in time, and the next one runs', async (t) => {
  const cases = [makeCase('hangs', () => new Promise(() => {})), makeCase('passes', async () => {})]
  const results = await runCases(cases, makeMemoryHarness, { timeoutMs: 10 })
  t.strictSame(results.map(({ error }) => error?.message), ['the case did not end within 10 ms', undefined])
})

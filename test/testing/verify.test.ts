import t from 'tap'
import { runCases, storageCases } from '../../src/testing/index.js'
import type { StorageHarness } from '../../src/testing/index.js'
import { makeMemoryHarness } from '../fixtures/delivery/memory-harness.js'

const cases = storageCases.filter(({ port }) => port === 'verify')

function makeHarness (verify: () => Promise<string[]>): StorageHarness {
  const harness = makeMemoryHarness()
  return { ...harness, storage: { ...harness.storage, verify } }
}

async function failures (verify: () => Promise<string[]>): Promise<Array<string | undefined>> {
  return (await runCases(cases, () => makeHarness(verify))).map(({ error }) => error?.message.split('\n')[0])
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

import t from 'tap'
import { storageCases } from '../../../src/tools/testing/index.js'
import { makeMemoryHarness } from '../../fixtures/delivery/memory-harness.js'

for (const { group, name, run } of storageCases) {
  t.test(`${group}: ${name}`, () => run(makeMemoryHarness))
}

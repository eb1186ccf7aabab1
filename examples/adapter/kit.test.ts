import test from 'node:test'
import { storageCases } from 'fastify-recruiting-api/testing'
import { makeHarness } from './harness.js'

for (const { group, name, run } of storageCases) {
  test(`${group}: ${name}`, () => run(makeHarness))
}

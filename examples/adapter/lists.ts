import { formatReport, runCases, storageCases } from 'fastify-recruiting-api/testing'
import { makeHarness } from './harness.js'

const cases = storageCases.filter(({ group }) => group === 'lists')
console.log(formatReport(await runCases(cases, makeHarness)))

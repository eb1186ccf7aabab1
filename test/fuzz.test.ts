import fc from 'fast-check'
import t from 'tap'
import { buildHost, judge, renewIds, send } from './fixtures/fuzz-host.js'
import { fuzzRequests } from './fixtures/fuzz-requests.js'

const runs = 15_000

t.test('no request gets a 5xx, a status that its operation does not declare, or a body that its schema does not have', async (t) => {
  const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31))
  t.comment(`FUZZ_SEED=${seed}`)
  const host = await buildHost(t)
  const tally = new Map<string, number>()
  let count = 0

  await fc.assert(fc.asyncProperty(fuzzRequests, async (request) => {
    if (count++ % 40 === 0) await renewIds(host)
    const outcome = await send(host, request)
    const faults = judge(host, outcome)
    if (faults.length > 0) throw new Error(`${faults.join('; ')}\n${JSON.stringify(request)}\n${outcome.answer.body.slice(0, 500)}`)
    tally.set(outcome.title, (tally.get(outcome.title) ?? 0) + 1)
  }), { seed, numRuns: runs })

  t.ok(count >= runs)
  // A run that met nothing but refusals would prove little.
  for (const { method, path, answers } of host.routes) {
    const success = Object.keys(answers).find((status) => status.startsWith('2'))
    t.ok(tally.has(`${method} ${path} ${success}`), `${method} ${path} gave ${success}`)
  }
  for (const status of [400, 401, 403, 404]) {
    t.ok([...tally.keys()].some((title) => title.endsWith(` ${status}`)), `some request got ${status}`)
  }
})

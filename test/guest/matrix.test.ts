import t, { type Test } from 'tap'
import { checkError } from '../fixtures/api/answers.js'
import { hosts, rejectingHosts } from '../fixtures/hosts/hosts.js'
import { probeIn, probeOwn, probeRejected } from '../fixtures/hosts/matrix.js'
import { probe } from '../fixtures/fuzz/probes.js'

/** The API's responses in a plain host, which are the same each time. */
let plainAnswers: ReturnType<typeof probe> | null = null

function probePlain (t: Test): ReturnType<typeof probe> {
  plainAnswers ??= probe(t, {})
  return plainAnswers
}

for (const host of hosts) {
  t.test(`a host with ${host.name}: the API's responses do not change`, async (t) => {
    const plain = await probePlain(t)
    t.ok(plain.length >= 20, 'there are probes')
    const judged = (answer: string): boolean => host.answers?.test(answer) !== true
    t.strictSame((await probeIn(t, host, plain)).filter(judged), plain.filter(judged))
  })

  t.test(`a host with ${host.name}: the plugin does not change its routes, errors, parsers and 404`, async (t) => {
    const { alone, beside } = await probeOwn(t, host)
    t.ok(alone.length >= 20)
    t.strictSame(beside, alone)
  })
}

for (const host of rejectingHosts) {
  t.test(`a host with ${host.name}: the API returns ${host.status} with its own error body`, async (t) => {
    const answers = await probeRejected(t, host, await probePlain(t))
    t.ok(answers.filter(({ isGood }) => isGood).length >= 8)
    for (const { what, isGood, answer } of answers) {
      // The host can reject a request before the API does.
      checkError(t, answer, isGood ? host.status : answer.statusCode, what)
      if (isGood) t.match(answer.headers, host.headers ?? {}, what)
    }
  })
}

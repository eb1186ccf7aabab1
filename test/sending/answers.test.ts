import t from 'tap'
import type { Socket } from 'node:net'
import { type AnswerCase, brokenAnswers, oddAnswers } from '../fixtures/hostile/hostile-answers.js'
import { startHostileReceiver } from '../fixtures/hostile/hostile-receiver.js'
import { outcomeOf, startSender } from '../fixtures/hostile/hostile-sender.js'

const timeoutMs = 5000
const repaired = 'HTTP/1.1 204 No Content\r\n\r\n'

for (const [title, cases] of Object.entries({ 'a broken answer': brokenAnswers, 'an odd answer': oddAnswers })) {
  t.test(`${title} is named at once, and the next post goes out as if nothing had been`, async (t) => {
    const sender = await startSender(t, { timeoutMs })
    for (const [what, answer] of Object.entries(cases)) {
      const { bytes, then = 'stay', ...expected } = answer
      let isRepaired = false
      const receiver = await startHostileReceiver(t, {
        request (socket) {
          if (isRepaired) return socket.write(repaired)
          socket.write(bytes, typeof bytes === 'string' ? 'latin1' : undefined, () => finish(socket, then))
        }
      })
      const { durationMs, ranMs, ...outcome } = await sender.post(receiver.url)
      t.same(outcome, expected, `a receiver that ${what}`)
      t.ok(ranMs < 1000, `${what}: ${ranMs} ms`)
      t.equal(receiver.requests, 1, 'it was sent once')

      isRepaired = true
      t.same(outcomeOf(await sender.post(receiver.url)), { responseStatus: 204, error: null }, `it ${what} no more`)
      t.equal(receiver.requests, 2)
    }
  })
}

function finish (socket: Socket, then: AnswerCase['then']): void {
  if (then === 'end') socket.end()
  if (then === 'reset') socket.resetAndDestroy()
}

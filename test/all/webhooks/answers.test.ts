import fc from 'fast-check'
import t from 'tap'
import { brokenAnswers, oddAnswers } from '../../fixtures/hostile/hostile-answers.js'
import { startHostileReceiver } from '../../fixtures/hostile/hostile-receiver.js'
import { startSender } from '../../fixtures/hostile/hostile-sender.js'

const timeoutMsAnyAnswer = 100
const texts = Object.values({ ...brokenAnswers, ...oddAnswers }).map(({ bytes }) => Buffer.from(bytes.slice(0, 500)).toString('latin1'))

/** Pieces of answers in any order, in any number of packets. */
const anyAnswer = fc.record({
  packets: fc.array(fc.oneof(
    fc.constantFrom(...texts),
    fc.constantFrom('HTTP/1.1 ', '200 OK', '\r\n', '\r\n\r\n', 'content-length: 3', 'transfer-encoding: chunked', 'connection: upgrade', '0', 'ff', ':', '\0'),
    fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString('latin1'))
  ), { maxLength: 8 }),
  isEnded: fc.boolean()
})

t.test('every response of a receiver gives the attempt a result within the deadline', async (t) => {
  const sender = await startSender(t, { timeoutMs: timeoutMsAnyAnswer })
  let answer: { packets: string[], isEnded: boolean } = { packets: [], isEnded: true }
  const { url } = await startHostileReceiver(t, {
    request (socket) {
      const { packets, isEnded } = answer
      const write = (index: number): void => {
        const packet = packets[index]
        if (socket.destroyed) return
        if (packet !== undefined) socket.write(packet, 'latin1', () => write(index + 1))
        else if (isEnded) socket.end()
      }
      write(0)
    }
  })
  const errors = new Set<unknown>()
  await fc.assert(fc.asyncProperty(anyAnswer, async (next) => {
    answer = next
    const { responseStatus, error, ranMs } = await sender.post(url)
    errors.add(error)
    const isSuccess = responseStatus !== null && responseStatus >= 200 && responseStatus <= 299
    const isFailure = responseStatus !== null && responseStatus >= 300 && responseStatus <= 999
    const expected = isSuccess ? [null] : isFailure ? ['http_status'] : ['connection', 'timeout']
    return expected.includes(error as never) && ranMs < timeoutMsAnyAnswer + 1000
  }), { numRuns: 300, interruptAfterTimeLimit: 6000, endOnFailure: true })
  t.ok(errors.has('connection'), [...errors].join(' '))
})

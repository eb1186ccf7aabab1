import t from 'tap'
import type { Socket } from 'node:net'
import { flood, startHostileReceiver } from '../fixtures/hostile/hostile-receiver.js'
import { startSender } from '../fixtures/hostile/hostile-sender.js'
import { until } from '../fixtures/stopwatch.js'

const attempts = 3

const cutShort: Array<[title: string, request: (socket: Socket) => void]> = [
  ['at its deadline', () => {}],
  ['for its length', (socket) => { socket.write('HTTP/1.1 200 OK\r\n\r\n'); flood(socket, 'x'.repeat(1024)) }],
  ['for its early hints', (socket) => flood(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n')]
]

for (const [title, request] of cutShort) {
  t.test(`an attempt whose answer is cut off ${title} costs the receiver one connection`, async (t) => {
    const receiver = await startHostileReceiver(t, { request })
    const { post } = await startSender(t)
    for (let count = 0; count < attempts; count++) {
      await post(receiver.url, { timeoutMs: 500 })
      await until(() => receiver.open === 0)
    }
    t.equal(receiver.connections, attempts)
  })
}

import t from 'tap'
import { startHostileReceiver } from '../fixtures/hostile-receiver.js'
import { outcomeOf, startSender } from '../fixtures/hostile-sender.js'

t.test('4 KiB of an answer are read, and a connection that brings more is ended', async (t) => {
  for (const [length, connections] of [[4096, 1], [4097, 2]] as const) {
    const receiver = await startHostileReceiver(t, {
      request: (socket) => { socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n${'x'.repeat(length)}`) }
    })
    const { post } = await startSender(t)
    for (let count = 0; count < 2; count++) {
      t.strictSame(outcomeOf(await post(receiver.url)), { responseStatus: 200, error: null }, `${length} bytes`)
    }
    t.equal(receiver.connections, connections, `connections for two answers of ${length} bytes`)
  }
})

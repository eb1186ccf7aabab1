import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { startHostileReceiver } from '../fixtures/hostile/hostile-receiver.js'
import { outcomeOf, startSender } from '../fixtures/hostile/hostile-sender.js'
import { readUntil } from '../fixtures/resources.js'

t.test('4 KiB of an answer are read, and a connection that brings more is ended', async (t) => {
  for (const [length, kept] of [[4096, 1], [4097, 0]] as const) {
    const receiver = await startHostileReceiver(t, {
      request: (socket) => { socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n${'x'.repeat(length)}`) }
    })
    const { post } = await startSender(t)
    t.strictSame(outcomeOf(await post(receiver.url)), { responseStatus: 200, error: null }, `${length} bytes`)
    // The receiver hears of it in a moment.
    if (kept > 0) await sleep(100)
    t.equal(await readUntil(() => receiver.open, kept), kept, `connections that are kept after an answer of ${length} bytes`)
  }
})

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

t.test('a request in flight is aborted, also after a receiver that closed the connection behind a long answer', async (t) => {
  const page = `HTTP/1.1 500 Error\r\nconnection: close\r\ncontent-length: 5000\r\n\r\n${'x'.repeat(5000)}`
  const closing = await startHostileReceiver(t, { request: (socket) => { socket.end(page) } })
  const silent = await startHostileReceiver(t, { request: () => {} })
  const sender = await startSender(t)
  const waiting = sender.post(silent.url)
  t.equal(await readUntil(() => silent.requests, 1), 1)
  t.match(outcomeOf(await sender.post(closing.url)), { responseStatus: 500 })
  sender.abort()
  t.match(outcomeOf(await waiting), { responseStatus: null, error: 'aborted' })
})

import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { type Behaviour, drip, dripOut, flood, startHostileReceiver } from '../../fixtures/hostile/hostile-receiver.js'
import { startSender } from '../../fixtures/hostile/hostile-sender.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'

t.test('each of 1,100 endpoints of one host gets its own requests', async (t) => {
  const receiver = await startReceiver(t)
  const sender = await startSender(t)
  const paths = Array.from({ length: 1100 }, (_, number) => `/hooks/${number}?key=${number}`)
  for (const path of [...paths, ...paths.slice(0, 3)]) {
    const { responseStatus, error } = await sender.post(new URL(path, receiver.url).href)
    if (error !== null) t.fail(`${path}: ${error} ${responseStatus}`)
  }
  t.strictSame(receiver.requests.map(({ path }) => path), [...paths, ...paths.slice(0, 3)])
})

const timeoutMs = 500
const ok = 'HTTP/1.1 200 OK\r\n'
const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`

const drips = (begin: string, text: string) => (socket: Socket): void => {
  socket.write(begin)
  drip(socket, text, 20)
}

/** Receivers that make their sender wait. The status is `null` if none arrives before the deadline. */
const waiting: Record<string, Behaviour & { status?: number, isTls?: boolean, bodyLength?: number }> = {
  'sends nothing': { request: () => {} },
  'does not read a long body': { connect: (socket) => socket.pause(), bodyLength: 8 * 1024 * 1024 },
  'sends nothing over TLS': { connect: () => {}, isTls: true },
  'drips a handshake': { connect: drips('', '\x16\x03\x03'), isTls: true },
  'drips its status line': { request: (socket) => dripOut(socket, 'HTTP/1.1 200 OK and all is well\r\n\r\n', 40) },
  'has an endless status line': {
    request: (socket) => {
      socket.write('HTTP/1.1 200 ')
      flood(socket, 'O'.repeat(16_384))
    }
  },
  'sends empty lines forever': { request: drips('', '\r\n') },
  'drips its headers': { request: drips(ok, 'x: y\r\n') },
  'stops before its last header ends': { request: (socket) => socket.write(`${ok}content-length: 0\r\n`) },
  'drips early hints': { request: drips('', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n') },
  'drips its body after a 200': { request: drips(`${ok}content-length: 1000\r\n\r\n`, 'b'), status: 200 },
  'never closes after a body without a length': { request: (socket) => socket.write(`${ok}\r\nbody`), status: 200 },
  'drips chunks after a 200': { request: drips(chunked, '1\r\nb\r\n'), status: 200 },
  'has an endless chunk extension': { request: drips(`${chunked}1;`, 'x'), status: 200 },
  'drips trailers': { request: drips(`${chunked}0\r\n`, 'x: y\r\n'), status: 200 },
  'drips its body after a 500': {
    request: drips('HTTP/1.1 500 No\r\ncontent-length: 1000\r\n\r\n', 'b'), status: 500
  }
}

t.test('an attempt ends at its deadline, whichever step the receiver delays', async (t) => {
  const { url: healthyUrl } = await startReceiver(t)
  const sender = await startSender(t, { timeoutMs })
  await sender.post(healthyUrl)
  let pending = Object.keys(waiting).length

  const attempts = Object.entries(waiting).map(async ([title, receiver]) => {
    const { isTls, bodyLength = 8, status = null, ...behaviour } = receiver
    const { url } = await startHostileReceiver(t, behaviour)
    const body = JSON.stringify('b'.repeat(bodyLength))
    const { durationMs, ranMs, ...outcome } = await sender.post(isTls ? url.replace('http:', 'https:') : url, { body })
    pending--
    const error = status === null ? 'timeout' : status === 200 ? null : 'http_status'
    t.same(outcome, { responseStatus: status, error }, `a receiver that ${title}`)
    t.ok(durationMs >= timeoutMs - 1, `not before the deadline: ${durationMs} ms`)
    t.ok(ranMs < timeoutMs + 1000, `within a second of the deadline: ${ranMs} ms`)
  })

  let healthy = 0
  while (pending > 0) {
    const { error } = await sender.post(healthyUrl, { timeoutMs: 60_000 })
    t.equal(error, null, 'a healthy receiver at the same time')
    healthy++
    await sleep(20)
  }
  await Promise.all(attempts)
  t.ok(healthy > 0, `${healthy} posts to a healthy receiver at the same time`)
})

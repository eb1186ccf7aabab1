import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { measureMemory } from '../../fixtures/hostile/processes/hostile-memory.js'
import { drip, flood, startHostileReceiver } from '../../fixtures/hostile/hostile-receiver.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'

interface Endless {
  what: string
  request: (socket: Socket) => void
  responseStatus: number | null
  error: string | null
  /** Whether the deadline ends the attempt, not the size of the response. */
  isDeadline?: boolean
}

const times = 20
/** For attempts that end at their deadline. By then, many times the memory limit has arrived. */
const timeoutMs = 3000
const limit = 50 * 1024 * 1024
const ok = 'HTTP/1.1 200 OK\r\n'
const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`
const block = 'b'.repeat(64 * 1024)
const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
const delivered = { responseStatus: 200, error: null } as const

const bodies: Endless[] = [
  { what: 'bodies after a 200', request: (socket) => { socket.write(`${ok}\r\n`); flood(socket, block) }, ...delivered },
  {
    what: 'bodies after a 500',
    request: (socket) => { socket.write('HTTP/1.1 500 No\r\n\r\n'); flood(socket, block) },
    responseStatus: 500,
    error: 'http_status'
  },
  { what: 'chunks', request: (socket) => { socket.write(chunked); flood(socket, `10000\r\n${block}\r\n`) }, ...delivered },
  { what: 'bombs', request: (socket) => { socket.write(`${ok}content-encoding: gzip\r\n\r\n`); flood(socket, bomb) }, ...delivered },
  { what: 'drops', request: (socket) => { socket.write(`${ok}content-length: 4000\r\n\r\n`); drip(socket, 'b', 5) }, ...delivered, isDeadline: true }
]

const others: Endless[] = [
  { what: 'chunk extensions', request: (socket) => { socket.write(`${chunked}1;`); flood(socket, block) }, ...delivered, isDeadline: true },
  { what: 'reasons', request: (socket) => { socket.write('HTTP/1.1 200 '); flood(socket, block) }, responseStatus: null, error: 'timeout', isDeadline: true },
  { what: 'headers', request: (socket) => { socket.write(ok); flood(socket, `x-more: ${'y'.repeat(50)}\r\n`.repeat(1000)) }, responseStatus: null, error: 'connection' },
  {
    what: 'early hints',
    request: (socket) => flood(socket, 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(1000)),
    responseStatus: null,
    error: 'connection'
  }
]

for (const [title, cases] of Object.entries({ 'endless bodies': bodies, 'responses with other endless parts': others })) {
  t.test(`20 ${title} at once take less than 50 MB, and a healthy receiver still gets its notifications`, async (t) => {
    const healthy = await startReceiver(t)
    const receivers = await Promise.all(cases.map(({ request }) => startHostileReceiver(t, { request })))
    // The others end long before that on any machine.
    const deadline = (index: number): number => cases[index]?.isDeadline ? timeoutMs : 60_000
    const targets = receivers.map(({ url }, index) => ({ url, timeoutMs: deadline(index) }))
    const reports = await measureMemory({ healthyUrl: healthy.url, targets, times })
    for (const [index, { what, responseStatus, error }] of cases.entries()) {
      const report = reports[index]
      t.same(report?.outcomes, Array.from({ length: times }, () => ({ responseStatus, error })), what)
      t.ok(report !== undefined && report.longestMs < timeoutMs + 5000, `${what} took ${report?.longestMs} ms`)
      t.ok(report !== undefined && report.heldGrowth < limit, `${what} held ${report?.heldGrowth} bytes`)
      const { delivered = 0, failed = 1 } = report?.healthy ?? {}
      t.ok(delivered > 0 && failed === 0, JSON.stringify(report?.healthy))
    }
    const resident = Math.max(...reports.map(({ residentGrowth }) => residentGrowth))
    if (cases === bodies) t.ok(resident < limit, `the process grew by ${resident} bytes`)
  })
}

import { type AddressInfo, type Server, type Socket, createServer } from 'node:net'
import { serveQuestions } from '../harness/helper.js'

/*
 * Endpoints that accept every request. They parse just enough HTTP to find the end of a request: an HTTP server would
 * be slower than the senders, so the benchmark would measure the server.
 */
const answer = Buffer.from('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok')
const contentLength = /\r\ncontent-length: *(\d+)\r\n/i
const servers: Server[] = []
let requests = 0
let firstAt = 0
let lastAt = 0
let delayMs = 0

serveQuestions({
  /** Opens this many endpoints, each on its own port. */
  open: (count) => Promise.all(Array.from({ length: Number(count) }, () => open())),
  /** Sets the delay of responses in milliseconds. */
  delay: (ms) => { delayMs = Number(ms) },
  /** Returns the number of requests since the last call. */
  count: () => {
    const counted = requests
    requests = 0
    return counted
  },
  /** Returns the milliseconds between the first and the last of those requests. Call it before `count`. */
  span: () => lastAt - firstAt
})

function open (): Promise<number> {
  const server = createServer({ noDelay: true }, receive)
  servers.push(server)
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

function receive (socket: Socket): void {
  let pending = ''
  socket.on('error', () => {})
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    pending += chunk
    for (let length = lengthOf(pending); length <= pending.length; length = lengthOf(pending)) {
      pending = pending.slice(length)
      lastAt = performance.now()
      if (requests++ === 0) firstAt = lastAt
      if (delayMs === 0) socket.write(answer)
      else setTimeout(() => socket.write(answer), delayMs)
    }
  })
}

/** Returns the length of the first request; infinite while its head is incomplete. */
function lengthOf (text: string): number {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd === -1) return Number.POSITIVE_INFINITY
  return headEnd + 4 + Number(contentLength.exec(text)?.[1] ?? 0)
}

import { type Socket, connect } from 'node:net'

export interface Target {
  port: number
  path: string
  headers: Record<string, string>
}

export interface Load {
  requests: number
  durationMs: number
}

/**
 * Repeats a request on each connection as soon as the response has arrived. The measurement ends with the last response
 * to a request sent within `durationMs`, because unfinished work would slow down the next one. Responses are counted by
 * their length, which is always the same: parsing HTTP would cost about as much as the server, which must be the
 * bottleneck.
 */
export async function loadServer (
  target: Target,
  { connections, durationMs }: { connections: number; durationMs: number }
): Promise<Load> {
  const request = formatRequest(target)
  const answerLength = await measureAnswer(target.port, request)
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(target.port)))
  let requests = 0
  const startedAt = performance.now()
  let isLoading = true

  // The faster of two servers keeps the client busy. With the slower one the client would sleep, and waking it up costs
  // 10 µs and more per response.
  function stayAwake (): void {
    if (isLoading) setImmediate(stayAwake)
  }

  function loadConnection (socket: Socket): Promise<void> {
    return new Promise((resolve, reject) => {
      let received = 0
      socket.on('error', reject)
      socket.on('end', () => reject(new Error('the server closed a connection')))
      socket.on('data', (chunk) => {
        if (received === 0 && !isSuccess(chunk)) reject(new Error(chunk.toString()))
        received += chunk.length
        if (received < answerLength) return
        if (received > answerLength) reject(new Error(`an answer of ${received} bytes instead of ${answerLength}`))
        received = 0
        requests++
        if (performance.now() - startedAt < durationMs) socket.write(request)
        else resolve()
      })
      socket.write(request)
    })
  }

  try {
    stayAwake()
    await Promise.all(sockets.map(loadConnection))
    return { requests, durationMs: performance.now() - startedAt }
  } finally {
    isLoading = false
    for (const socket of sockets) socket.destroy()
  }
}

function formatRequest ({ path, headers }: Target): Buffer {
  const lines = Object.entries({ host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
}

/** Returns the length of a whole response, head and body. */
async function measureAnswer (port: number, request: Buffer): Promise<number> {
  const socket = await open(port)
  socket.write(request)
  let text = ''
  for await (const chunk of socket.setEncoding('latin1')) {
    text += chunk
    const headLength = text.indexOf('\r\n\r\n') + 4
    const bodyLength = Number(/\r\ncontent-length: (\d+)\r\n/i.exec(text)?.[1])
    if (headLength > 4 && text.length >= headLength + bodyLength) break
  }
  return text.length
}

/** Whether the status is 200. */
function isSuccess (chunk: Buffer): boolean {
  return chunk.toString('latin1', 9, 12) === '200'
}

function open (port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket))
    socket.once('error', reject)
  })
}

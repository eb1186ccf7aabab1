import type { Socket } from 'node:net'

/** The proxy opened no tunnel. The message is written to the log: it holds nothing of the URL of the proxy. */
export class ProxyError extends Error {}

interface TunnelRequest {
  /** Address and port. */
  target: string
  /** The value of `Proxy-Authorization`. */
  authorization: string | null
  waitMs: number
}

const maxAnswerLength = 16_384
const headEnd = '\r\n\r\n'

/**
 * Asks the proxy that the socket is connected to for a tunnel (RFC 9110, section 9.3.6). Resolves when the socket leads to
 * the target. Otherwise destroys the socket and rejects with a `ProxyError`.
 */
export function requestTunnel (socket: Socket, { target, authorization, waitMs }: TunnelRequest): Promise<void> {
  const headers = [`Host: ${target}`, ...(authorization === null ? [] : [`Proxy-Authorization: ${authorization}`])]
  return new Promise((resolve, reject) => {
    const timer = setTimeout(fail, waitMs, 'the proxy did not answer in time')
    let answer = ''

    function read (): void {
      for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) answer += chunk.toString('latin1')
      if (answer.length > maxAnswerLength) return fail('the answer of the proxy is too long')
      if (!answer.includes(headEnd)) return
      const fault = faultOf(answer)
      if (fault !== null) return fail(fault)
      stop()
      resolve()
    }

    function fail (fault: string): void {
      stop()
      socket.destroy()
      reject(new ProxyError(fault))
    }

    function onClose (): void {
      fail('the proxy closed the connection')
    }

    function stop (): void {
      clearTimeout(timer)
      socket.off('readable', read).off('close', onClose)
    }

    socket.on('readable', read).on('close', onClose)
    socket.write(`CONNECT ${target} HTTP/1.1\r\n${headers.join('\r\n')}${headEnd}`)
  })
}

function faultOf (answer: string): string | null {
  const [, status] = /^HTTP\/1\.[01] (\d{3})[ \r]/.exec(answer) ?? []
  if (status === undefined) return 'the proxy did not answer in HTTP'
  if (!status.startsWith('2')) return `the proxy answered ${status}`
  // Receivers of HTTP and TLS wait for the first message.
  return answer.indexOf(headEnd) === answer.length - headEnd.length ? null : 'the proxy sent more than its answer'
}

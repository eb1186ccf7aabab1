import type { Socket } from 'node:net'

const maxCount = 100
const maxHeadBytes = 16_384

/** The beginning of an informational response: any 1xx except 101, which ends HTTP on the connection. */
export const informationalHead = /^HTTP\/\d\.\d 1(?!01)\d\d(?=[ \r])/
const example = 'HTTP/1.1 100 '

/**
 * Skips informational responses to a request, such as `100 Continue`, before undici reads the socket: undici closes the
 * connection on an unexpected 100.
 */
export class InformationalResponses {
  #isExpected = false
  #count = 0
  #held = Buffer.alloc(0)

  /** Starts skipping. Call it when a request is sent. */
  expect (): void {
    this.#isExpected = true
    this.#count = 0
    this.#held = Buffer.alloc(0)
  }

  /** Reads the socket up to the final response and puts that back. Call it before undici's `readable` listener. */
  skip (socket: Socket): void {
    const chunk: Buffer | null = this.#isExpected ? socket.read() : null
    if (chunk === null) return
    let rest = Buffer.concat([this.#held, chunk])
    while (this.#count <= maxCount && startsInformational(rest)) {
      const end = rest.indexOf('\r\n\r\n')
      if (end === -1 && rest.length < maxHeadBytes) {
        this.#held = rest
        return
      }
      this.#count++
      rest = rest.subarray(end === -1 ? rest.length : end + 4)
      this.#held = rest
    }
    if (this.#count > maxCount) socket.destroy(new Error('only informational responses arrived'))
    else if (rest.length > 0) {
      this.#isExpected = false
      socket.unshift(rest)
    }
  }
}

/** Whether the bytes are the beginning of an informational response, or may become one. */
function startsInformational (bytes: Buffer): boolean {
  if (bytes.length === 0) return false
  const text = bytes.toString('latin1', 0, example.length)
  return informationalHead.test(text + example.slice(text.length))
}

import type { Dispatcher } from 'undici'
import type { Deadline } from './deadline.js'

/** One request, and how its connection is ended. */
export interface PostRequest {
  url: URL
  headers: Record<string, string>
  body: string
  /** Ends the connection that it was sent over. */
  hangUp: () => void
}

/** What of an answer counts. */
export interface Answer {
  status: number
  retryAfter: string | undefined
}

const maxAnswerBytes = 4096
const maxInformational = 100

/**
 * Posts once and resolves with what the status line said: a body that breaks off, never ends or is too long changes
 * nothing. Rejects with what went wrong before there was a status, or with the reason that ended the deadline.
 *
 * undici hears of an abort only once it is connected, so the promise does not wait for it.
 */
export function post (dispatcher: Dispatcher, { url, headers, body, hangUp }: PostRequest, deadline: Deadline): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined
    let answer: Answer | undefined
    let received = 0
    let informational = 0
    let isSettled = false

    function settle (fault?: unknown): void {
      isSettled = true
      if (answer === undefined) reject(fault)
      else resolve(answer)
    }

    function cut (reason?: symbol): void {
      settle(reason)
      hangUp()
      controller?.abort(new Error('cut off'))
    }

    deadline.watch(cut)
    dispatcher.dispatch({ origin: url.origin, path: url.pathname + url.search, method: 'POST', headers, body }, {
      onRequestStart (started) {
        controller = started
        if (isSettled) started.abort(new Error('too late'))
      },
      onResponseStart (_controller, status, { 'retry-after': retryAfter }) {
        // Informational answers come before the one that counts.
        if (status >= 200) answer = { status, retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined }
        else if (++informational > maxInformational) cut()
      },
      onResponseData (_controller, chunk) {
        received += chunk.length
        if (received > maxAnswerBytes) cut()
      },
      onResponseEnd: () => settle(),
      onResponseError: (_controller, error) => settle(error)
    })
  })
}

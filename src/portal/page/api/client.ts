import type { Session } from '../session/fragment.js'
import type { SessionKeeper } from '../session/keeper.js'
import { type Failure, type Result, noAnswer, readFailure } from './failure.js'

/** A request, relative to the tenant's part of the API. */
export interface ApiRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** For example `webhooks/1`. */
  path: string
  query?: Readonly<Record<string, string | number | undefined>>
  body?: object
  signal?: AbortSignal | undefined
}

/** Sends requests with the current session. */
export type Send = <Value>(request: ApiRequest) => Promise<Result<Value>>

interface SentInit extends RequestInit {
  cache: 'no-store'
}

/** The parts that sending needs. */
export interface ClientParts {
  /** The prefix of the API, with a slash at its end. */
  base: string
  keeper: Pick<SessionKeeper, 'session' | 'replaced'>
  fetch: (url: string, init: SentInit) => Promise<Response>
  now (): number
}

/** A retry or a replay takes longer than a page of a list. */
const timeoutMs = 30_000

/**
 * Returns what sends requests. One that gets 401 waits for the next session and is repeated once. Failures are values:
 * only a caller's abort rejects.
 */
export function createSend ({ base, keeper, fetch, now }: ClientParts): Send {
  async function once (session: Session, request: ApiRequest): Promise<Response | Failure> {
    const timeout = AbortSignal.timeout(timeoutMs)
    const { method, body, signal } = request
    try {
      return await fetch(urlOf(base, session, request), {
        method,
        headers: { authorization: `Bearer ${session.token}`, accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
        credentials: 'omit',
        cache: 'no-store',
        redirect: 'error',
        referrerPolicy: 'no-referrer'
      })
    } catch {
      signal?.throwIfAborted()
      return noAnswer(timeout.aborted ? 'timeout' : 'network')
    }
  }

  async function read<Value> (answer: Response | Failure, signal: AbortSignal | undefined): Promise<Result<Value>> {
    if (!(answer instanceof Response)) return { value: null, failure: answer }
    if (!answer.ok) return { value: null, failure: await readFailure(answer, now()) }
    try {
      return { value: (answer.status === 204 ? null : await answer.json()) as Value, failure: null }
    } catch {
      signal?.throwIfAborted()
      return { value: null, failure: noAnswer('network') }
    }
  }

  return async (request) => {
    const session = keeper.session()
    if (session === null) return { value: null, failure: { ...noAnswer('network'), code: 'unauthorized' } }
    const answer = await once(session, request)
    if (answer.status !== 401) return await read(answer, request.signal)
    const next = await keeper.replaced(session)
    request.signal?.throwIfAborted()
    return await read(next === null ? answer : await once(next, request), request.signal)
  }
}

function urlOf (base: string, { tenantSlug }: Session, { path, query = {} }: ApiRequest): string {
  const fields = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(Object.fromEntries(fields.map(([name, value]) => [name, String(value)]))).toString()
  return `${base}${encodeURIComponent(tenantSlug)}/${path}${text && `?${text}`}`
}

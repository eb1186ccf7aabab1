import type { Static } from '@sinclair/typebox'
import type {
  Delivery, DeliveryStatus, DeliveryWithAttempts as StoredDelivery, ManagedKey, Webhook
} from '../../ports/index.js'
import type { Page } from '../../shared/paging.js'
import type { EventType as EventTypeSchema } from '../../webhooks/schemas/event-type.js'
import type * as webhook from '../../webhooks/schemas/webhook.js'
import type { PortalMessages } from '../messages.js'
import type { Session, SessionManager } from './session.js'

export type * from '../../ports/index.js'
export type { Page }

export type WebhookWithHealth = webhook.WebhookWithHealth

/** Without the capability `bodies`, the body is `null`. */
export type DeliveryWithAttempts = Omit<StoredDelivery, 'body'> & { body: string | null }

type CreateWebhook = Static<typeof webhook.CreateWebhook>
export type CreatedWebhook = Static<typeof webhook.CreatedWebhook>
export type EventType = Static<typeof EventTypeSchema>
export type Preview = Static<typeof webhook.WebhookPreview>
type PreviewWebhook = Static<typeof webhook.PreviewWebhook>
export type Replay = Partial<Static<typeof webhook.Replay>>
export type ReplayResult = Static<typeof webhook.ReplayResult>
export type RotatedWebhook = Static<typeof webhook.RotatedWebhook>
export type TestResult = Static<typeof webhook.TestResult>
export type UpdateWebhook = Static<typeof webhook.UpdateWebhook>

/** A key with its text, which only its creation and rotation return. */
export interface CreatedApiKey extends ManagedKey {
  key: string
}

export interface RotatedApiKey extends CreatedApiKey {
  previous_key_expires_at: string | null
}

interface CreateApiKey {
  name: string
  scopes: string[]
  allowed_ips: string[] | null
  expires_in_days: number
}

/** Filters of the delivery log. */
export interface DeliveryQuery extends PageQuery {
  sort?: string
  'filter[status]'?: DeliveryStatus | undefined
  'filter[event_type]'?: string | undefined
  'filter[event_id]'?: string | undefined
}

/** The page of a list. */
export interface PageQuery {
  page?: number
  per_page?: number
}

/** The operations of the API that the portal uses. */
export type Api = ReturnType<typeof createApi>

export function createApi (send: Send) {
  const list = <Row>(path: string, query: object, signal?: AbortSignal) =>
    send<Page<Row>>({ method: 'GET', path, query: { ...query }, signal })
  const find = <Value>(path: string, signal?: AbortSignal) => send<{ data: Value }>({ method: 'GET', path, signal })
  const post = <Value>(path: string, body?: object, signal?: AbortSignal) =>
    send<{ data: Value }>({ method: 'POST', path, body, signal })
  const remove = (path: string) => send<null>({ method: 'DELETE', path })
  return {
    listWebhooks: (query: PageQuery, signal?: AbortSignal) => list<Webhook>('webhooks', query, signal),
    findWebhook: (id: number, signal?: AbortSignal) => find<WebhookWithHealth>(`webhooks/${id}`, signal),
    createWebhook: (body: CreateWebhook) => post<CreatedWebhook>('webhooks', body),
    updateWebhook: (id: number, body: UpdateWebhook) =>
      send<{ data: Webhook }>({ method: 'PATCH', path: `webhooks/${id}`, body }),
    previewWebhook: (body: PreviewWebhook, signal?: AbortSignal) => post<Preview>('webhooks/preview', body, signal),
    deleteWebhook: (id: number) => remove(`webhooks/${id}`),
    rotateSecret: (id: number, graceSeconds: number) =>
      post<RotatedWebhook>(`webhooks/${id}/rotate_secret`, { grace_period_seconds: graceSeconds }),
    dispatchTest: (id: number, body: { event_type?: string }) => post<TestResult>(`webhooks/${id}/dispatch_test`, body),
    replay: (id: number, body: Replay & { dry_run?: boolean }) => post<ReplayResult>(`webhooks/${id}/replay`, body),
    listDeliveries: (id: number, query: DeliveryQuery, signal?: AbortSignal) =>
      list<Delivery>(`webhooks/${id}/deliveries`, query, signal),
    findDelivery: (id: number, deliveryId: number, signal?: AbortSignal) =>
      find<DeliveryWithAttempts>(`webhooks/${id}/deliveries/${deliveryId}`, signal),
    retryDelivery: (id: number, deliveryId: number) => post<Delivery>(`webhooks/${id}/deliveries/${deliveryId}/retry`),
    listEventTypes: (query: PageQuery, signal?: AbortSignal) => list<EventType>('event_types', query, signal),
    listApiKeys: (query: PageQuery, signal?: AbortSignal) => list<ManagedKey>('api_keys', query, signal),
    createApiKey: (body: CreateApiKey) => post<CreatedApiKey>('api_keys', body),
    rotateApiKey: (id: string, graceSeconds: number) =>
      post<RotatedApiKey>(`api_keys/${encodeURIComponent(id)}/rotate`, { grace_period_seconds: graceSeconds }),
    revokeApiKey: (id: string) => remove(`api_keys/${encodeURIComponent(id)}`)
  }
}

/** Reads the whole catalogue, page by page. */
export async function allEventTypes (
  api: Pick<Api, 'listEventTypes'>,
  signal: AbortSignal
): Promise<Result<EventType[]>> {
  const types: EventType[] = []
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { value, failure } = await api.listEventTypes({ page, per_page: 200 }, signal)
    if (failure !== null) return { value: null, failure }
    types.push(...value.data)
    pages = value.meta.total_pages
  }
  return { value: types, failure: null }
}

/** A request, relative to the tenant's part of the API. */
interface ApiRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** For example `webhooks/1`. */
  path: string
  query?: Readonly<Record<string, string | number | undefined>>
  body?: object | undefined
  signal?: AbortSignal | undefined
}

/** Sends requests with the current session. */
type Send = <Value>(request: ApiRequest) => Promise<Result<Value>>

interface SentInit extends RequestInit {
  cache: 'no-store'
}

/** The parts that sending needs. */
interface ClientParts {
  /** The prefix of the API, with a slash at its end. */
  base: string
  sessions: Pick<SessionManager, 'current' | 'replaced' | 'confirm'>
  fetch: (url: string, init: SentInit) => Promise<Response>
  now (): number
}

/** Retries and replays take longer than a page of a list. */
const timeoutMs = 30_000

/**
 * Returns a client. A request that gets 401 waits for the next session and is repeated once. Failures are values:
 * only a caller's abort rejects.
 */
export function createSend ({ base, sessions, fetch, now }: ClientParts): Send {
  async function once (session: Session, request: ApiRequest): Promise<Response | Failure> {
    const timeout = AbortSignal.timeout(timeoutMs)
    const { method, body, signal } = request
    try {
      const response = await fetch(urlOf(base, session, request), {
        method,
        headers: {
          authorization: `Bearer ${session.token}`,
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' })
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
        credentials: 'omit',
        cache: 'no-store',
        redirect: 'error',
        referrerPolicy: 'no-referrer'
      })
      if (response.ok) sessions.confirm(session)
      return response
    } catch {
      signal?.throwIfAborted()
      return noResponse(timeout.aborted ? 'timeout' : 'network')
    }
  }

  async function read<Value> (response: Response | Failure, signal: AbortSignal | undefined): Promise<Result<Value>> {
    if (!(response instanceof Response)) return { value: null, failure: response }
    if (!response.ok) return { value: null, failure: await readFailure(response, now()) }
    try {
      return { value: (response.status === 204 ? null : await response.json()) as Value, failure: null }
    } catch {
      signal?.throwIfAborted()
      return { value: null, failure: noResponse('network') }
    }
  }

  return async (request) => {
    const session = sessions.current()
    if (session === null) return { value: null, failure: { ...noResponse('network'), code: 'unauthorized' } }
    const response = await once(session, request)
    if (response.status !== 401) return await read(response, request.signal)
    const next = await sessions.replaced(session)
    request.signal?.throwIfAborted()
    return await read(next === null ? response : await once(next, request), request.signal)
  }
}

function urlOf (base: string, { tenantSlug }: Session, { path, query = {} }: ApiRequest): string {
  const fields = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(Object.fromEntries(fields.map(([name, value]) => [name, String(value)]))).toString()
  return `${base}${encodeURIComponent(tenantSlug)}/${path}${text && `?${text}`}`
}

/** Why a request failed: a code of the API, or no response at all. */
type FailureCode = Exclude<keyof PortalMessages['problem'], 'requestId' | 'retryIn'>

/** A fault in the request. */
export interface FailureDetail {
  in: 'path' | 'query' | 'header' | 'body'
  /** For example `event_types[0]`. */
  field: string
  message: string
}

/** A failed request. */
export interface Failure {
  code: FailureCode
  /** 0 without a response. */
  status: number
  /** To quote when asking for help; `null` without a response from the API. */
  requestId: string | null
  /** When to try again, if the response says so. */
  retryAfterMs: number | null
  /** Empty unless the vendor sends them. */
  details: readonly FailureDetail[]
}

/** A value, or the failure. */
export type Result<Value> = { value: Value, failure: null } | { value: null, failure: Failure }

const byStatus: Record<number, FailureCode> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  429: 'rate_limited',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable'
}

/** Reads a failed response. It may come from a proxy, with any body. */
export async function readFailure (response: Response, now: number): Promise<Failure> {
  const { error } = await readBody(response)
  return {
    code: byStatus[response.status] ?? 'internal_error',
    status: response.status,
    requestId: typeof error?.request_id === 'string' ? error.request_id : response.headers.get('x-request-id'),
    retryAfterMs: readRetryAfter(response.headers.get('retry-after'), now),
    details: Array.isArray(error?.details) ? error.details : []
  }
}

/** Describes a request that got no response. */
export function noResponse (code: 'network' | 'timeout'): Failure {
  return { code, status: 0, requestId: null, retryAfterMs: null, details: [] }
}

/** Finds the detail of a failure about a field of the body, for example `target_url`; `null` without one. */
export function messageFor (failure: Failure | null, field: string): string | null {
  const detail = failure?.details.find(
    (entry) =>
      entry.in === 'body' &&
      (entry.field === field || entry.field.startsWith(`${field}[`) || entry.field.startsWith(`${field}.`))
  )
  return detail?.message ?? null
}

interface ErrorBody {
  error?: { request_id?: unknown, details?: FailureDetail[] } | null
}

async function readBody (response: Response): Promise<ErrorBody> {
  try {
    const body = await response.json() as ErrorBody | null
    return body ?? {}
  } catch {
    return {}
  }
}

function readRetryAfter (text: string | null, now: number): number | null {
  if (text === null) return null
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isNaN(ms) ? null : Math.max(0, ms)
}

/** Loads something when it has a turn. Returns `null` if it was aborted or failed, or if an earlier one failed. */
export type InTurn = <Value>(
  load: (signal: AbortSignal) => Promise<Result<Value>>,
  signal: AbortSignal
) => Promise<Value | null>

/**
 * Lets at most `most` load at once, in the order they came. After a failure none loads: figures beside a list are not
 * worth an error.
 */
export function createTurns (most: number): InTurn {
  const waiting: Array<() => void> = []
  let running = 0
  let isStopped = false

  return async (load, signal) => {
    if (running < most) running += 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    const isWanted = !isStopped && !signal.aborted
    const result = isWanted ? await load(signal).catch(() => null) : null
    if (result?.failure) isStopped = true
    const next = waiting.shift()
    if (next === undefined) running -= 1
    // Hands this slot to the next caller.
    else next()
    return result?.value ?? null
  }
}

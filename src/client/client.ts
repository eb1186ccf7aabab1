import { ApiError, type ApiRequest, type ApiResponse, type Transport, pathPart, send, unexpected } from './request.js'
import type {
  ApiKey,
  ApiTypes,
  ApiKeyQuery,
  Candidate,
  CandidateChange,
  CandidateQuery,
  CreatedApiKey,
  Delivery,
  DeliveryQuery,
  DeliveryWithAttempts,
  Event,
  EventType,
  Job,
  JobChange,
  JobQuery,
  NewApiKey,
  NewWebhook,
  Page,
  PageQuery,
  ReplayResult,
  ReplaySelection,
  RotatedApiKey,
  RotatedWebhook,
  SyncPage,
  TestResult,
  Webhook,
  WebhookPreview,
  WebhookQuery,
  WebhookWithHealth,
  WebhookWithSecret
} from './types.js'

export interface ClientOptions {
  /** Where the service serves its API, such as `https://ats.example.com/api/v1/public`. */
  baseUrl: string
  /** The name of your company in the API's paths. */
  tenantSlug: string
  /** Your API key. Keep it out of pages that others can open. */
  key: string
  /**
   * Sends the requests.
   * @default globalThis.fetch
   */
  fetch?: typeof fetch
  /**
   * How long a request may take, in milliseconds.
   * @default 30000
   */
  timeoutMs?: number
  /**
   * How often a request is repeated after 429 or 503 and, if that is harmless, after 502, 504 or a lost connection. All
   * but PATCH and your own POST requests are harmless: an `Idempotency-Key` makes POST so.
   * Each time the client waits as long as `Retry-After` says, up to a minute; without it 0.5 to 1 second, and twice as
   * long each time.
   * @default 4
   */
  maxRetries?: number
  /** Waits between retries, for tests. Gets the error that the request failed with; throw it to end the retries. */
  sleep?: (ms: number, failure: unknown) => Promise<void>
}

export interface SyncOptions {
  /** Returns the token that was saved last, `null` to begin. Called once. */
  load?: () => string | null | undefined | Promise<string | null | undefined>
  /** Saves the token of a page. Called after your loop has handled the page. */
  save?: (token: string) => unknown
  /**
   * Called when the service no longer knows the token; the sync then begins again. Afterwards delete what it did not
   * contain. Without this, an expired token throws an `ApiError` with the code `sync_token_expired`.
   */
  restart?: () => unknown
  /** 1 to 200. @default 200 */
  per_page?: number
}

export interface EventsOptions<Type extends string = string> extends SyncOptions {
  /**
   * Called when the service no longer knows the token, for example because it is older than the events that are kept.
   * The feed then begins with the oldest of them: skip the ids that you have. Without this, an expired token throws
   * an `ApiError` with the code `sync_token_expired`.
   */
  restart?: () => unknown
  /** The types of events, such as `application.created`. A token is only valid for the same types. @default all */
  types?: readonly Type[]
  /**
   * Where to begin without a token: with the oldest event that is kept, with those to come, or with the first one that
   * was recorded at this time or later.
   * @default 'oldest'
   */
  from?: 'oldest' | 'now' | Date
}

/** Candidates or jobs. */
export interface Lists<Item extends { id: unknown }, Change, Query> {
  /** Reads a list page by page. */
  list (query?: Query): AsyncGenerator<Page<Item>, void>
  /** Returns one; `null` if there is none with this id. */
  find (id: Item['id']): Promise<Item | null>
  /** Reads everything, then what changed, until it is up to date. Call it again later with the saved token. */
  sync (options?: SyncOptions): AsyncGenerator<SyncPage<Change>, void>
}

/** The API of one tenant. Methods throw an `ApiError` for errors of the service. */
export interface Client<Types extends ApiTypes = ApiTypes> {
  candidates: Lists<Candidate<Types>, CandidateChange<Types>, CandidateQuery>
  jobs: Lists<Job<Types>, JobChange<Types>, JobQuery>
  webhooks: {
    list (query?: WebhookQuery): AsyncGenerator<Page<Webhook>, void>
    find (id: number): Promise<WebhookWithHealth | null>
    /** The result has the secret, which cannot be read again. */
    create (webhook: NewWebhook): Promise<WebhookWithSecret>
    update (id: number, changes: Partial<NewWebhook>): Promise<Webhook>
    delete (id: number): Promise<void>
    /**
     * Replaces the secret. Notifications are also signed with the old one for `grace_period_seconds`, by default a
     * day.
     */
    rotateSecret (id: number, options?: { grace_period_seconds?: number }): Promise<RotatedWebhook>
    /** Counts the recent events that a webhook with these event types and filters would have received. */
    preview (webhook: Pick<NewWebhook, 'event_types' | 'filters'>): Promise<WebhookPreview>
    /** Sends a test notification and waits for its result. */
    test (id: number, options?: { event_type?: string }): Promise<TestResult>
    /** Sends past events again. */
    replay (id: number, selection?: ReplaySelection): Promise<ReplayResult>
    listDeliveries (id: number, query?: DeliveryQuery): AsyncGenerator<Page<Delivery>, void>
    findDelivery (id: number, deliveryId: number): Promise<DeliveryWithAttempts | null>
    /** Attempts a delivery again, now. */
    retryDelivery (id: number, deliveryId: number): Promise<Delivery>
  }
  /** The API keys of the tenant. Your key needs the scope `api_keys:manage`. */
  apiKeys: {
    list (query?: ApiKeyQuery): AsyncGenerator<Page<ApiKey>, void>
    /** The result has the key, which cannot be read again. */
    create (key: NewApiKey): Promise<CreatedApiKey>
    /** Creates a key that replaces another one, which stays valid for `grace_period_seconds`, by default a day. */
    rotate (id: string, options?: { grace_period_seconds?: number }): Promise<RotatedApiKey>
    revoke (id: string): Promise<void>
  }
  /**
   * Reads the events of the tenant, from the saved token until it is up to date. Each comes once, none is missed, in
   * the order in which they were recorded. Call it again later with the saved token.
   */
  events (options?: EventsOptions<Event<Types>['type']>): AsyncGenerator<SyncPage<Event<Types>>, void>
  /** Returns an event; `null` if the service has none with this id, or no longer. */
  findEvent (id: string): Promise<Event<Types> | null>
  listEventTypes (query?: PageQuery<'name'>): AsyncGenerator<Page<EventType>, void>
  /**
   * Calls any other operation of the service, at a path such as `/applications`. Returns the response, `null` for
   * 204.
   */
  request<Response> (request: ApiRequest): Promise<Response>
}

/** Creates a client of the API. It needs only `fetch` and Web Crypto, so it runs in Node, Deno, Bun and browsers. */
export function createClient<Types extends ApiTypes = ApiTypes> (options: ClientOptions): Client<Types> {
  const transport: Transport = {
    url: `${options.baseUrl.replace(/\/+$/, '')}/${pathPart(options.tenantSlug)}`,
    key: options.key,
    fetch: options.fetch ?? ((...request) => globalThis.fetch(...request)),
    timeoutMs: options.timeoutMs ?? 30_000,
    maxRetries: options.maxRetries ?? 4,
    sleep: options.sleep ?? ((ms) => new Promise((resolve) => setTimeout(resolve, ms)))
  }

  async function request<Response> (request: ApiRequest): Promise<Response> {
    return (await send(transport, request)).body as Response
  }

  async function find<Item> (path: string): Promise<Item | null> {
    try {
      return await readData<Item>({ path })
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null
      throw error
    }
  }

  async function readData<Item> (asked: ApiRequest): Promise<Item> {
    const response = await send(transport, asked)
    const { data } = Object(response.body) as { data?: Item }
    if (data === undefined) throw unexpected(response.status, 'The response has no data')
    return data
  }

  /** Sends a request that may change something once, although it may be sent again. */
  async function post<Item> (path: string, body?: unknown): Promise<Item> {
    try {
      return await readData<Item>({ method: 'POST', path, body, idempotencyKey: crypto.randomUUID() })
    } catch (error) {
      // The service may not accept the key, and a 400 says that nothing was done.
      if (!(error instanceof ApiError) || error.status !== 400) throw error
      return readData<Item>({ method: 'POST', path, body })
    }
  }

  async function * list<Item> (path: string, query: PageQuery = {}): AsyncGenerator<Page<Item>, void> {
    for (let page = query.page ?? 1, hasMore = true; hasMore; page++) {
      const answer = readPage<Page<Item>>(await send(transport, { path, query: { ...query, page } }))
      const { total_pages: last, total_is_capped: isCapped = false, per_page: perPage } = answer.meta
      hasMore = page < last || (isCapped && answer.data.length === perPage)
      yield answer
    }
  }

  /** Reads what follows a token, page by page. Without a token, `start` is the query of the first page. */
  async function * follow<Item> (
    path: string,
    { load, save, restart, per_page: perPage = 200 }: SyncOptions = {},
    filter: object = {},
    start: object = {}
  ): AsyncGenerator<SyncPage<Item>, void> {
    let token = await load?.() ?? undefined
    let place: object = token === undefined ? start : { token }
    let hasRestarted = false
    for (let hasMore = true; hasMore;) {
      let page: SyncPage<Item>
      try {
        page = readPage(await send(transport, { path, query: { ...filter, ...place, per_page: perPage } }))
      } catch (error) {
        // A program that was killed while it saved a token may leave it empty.
        const isExpired = error instanceof ApiError && (error.code === 'sync_token_expired' || token?.trim() === '')
        if (!isExpired || restart === undefined || hasRestarted) throw error
        hasRestarted = true
        token = undefined
        place = {}
        await restart()
        continue
      }
      yield page
      const { next_token: next, has_more: isMore } = page.meta
      if (isMore && next === token) throw unexpected(200, 'The response repeats its token')
      token = next
      place = { token }
      hasMore = isMore
      await save?.(next)
    }
  }

  function lists<Item extends { id: unknown }, Change, Query extends PageQuery> (
    path: string
  ): Lists<Item, Change, Query> {
    return {
      list: (query) => list(path, query),
      find: async (id) => find(`${path}/${pathPart(id)}`),
      sync: (options) => follow(`${path}/sync`, options)
    }
  }

  return {
    candidates: lists('/candidates'),
    jobs: lists('/jobs'),
    webhooks: {
      list: (query) => list('/webhooks', query),
      find: async (id) => find(webhook(id)),
      create: (body) => post('/webhooks', body),
      update: async (id, body) => readData({ method: 'PATCH', path: webhook(id), body, isRepeatable: true }),
      delete: async (id) => {
        await request({ method: 'DELETE', path: webhook(id) })
      },
      rotateSecret: async (id, body) => post(`${webhook(id)}/rotate_secret`, body),
      preview: (body) => readData({ method: 'POST', path: '/webhooks/preview', body, isRepeatable: true }),
      test: async (id, body) => post(`${webhook(id)}/dispatch_test`, body),
      replay: async (id, body) => post(`${webhook(id)}/replay`, body),
      listDeliveries: (id, query) => list(`${webhook(id)}/deliveries`, query),
      findDelivery: async (id, deliveryId) => find(`${webhook(id)}/deliveries/${pathPart(deliveryId)}`),
      retryDelivery: async (id, deliveryId) => post(`${webhook(id)}/deliveries/${pathPart(deliveryId)}/retry`)
    },
    events: ({ types, from, ...options } = {}) =>
      follow('/events', options, { 'filter[event_type]': types?.join() },
        from instanceof Date ? { since: from.toISOString() } : from === 'now' ? { token: from } : {}),
    findEvent: async (id) => find(`/events/${pathPart(id)}`),
    listEventTypes: (query) => list('/event_types', query),
    apiKeys: {
      list: (query) => list('/api_keys', query),
      create: (body) => post('/api_keys', body),
      rotate: async (id, body) => post(`/api_keys/${pathPart(id)}/rotate`, body),
      revoke: async (id) => {
        await request({ method: 'DELETE', path: `/api_keys/${pathPart(id)}` })
      }
    },
    request
  }
}

function webhook (id: number): string {
  return `/webhooks/${pathPart(id)}`
}

/** Returns the page of a list. Without this check, what a proxy sends instead would begin a list again for ever. */
function readPage<Read extends { data: unknown[], meta: object }> ({ status, body }: ApiResponse): Read {
  const { data, meta } = Object(body) as Partial<Read>
  if (!Array.isArray(data) || meta == null) throw unexpected(status, 'The response is not a page')
  return body as Read
}

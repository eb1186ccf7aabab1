import { ApiError, type ApiRequest, type Transport, pathPart, send, unexpected } from './request.js'
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
  /** The base URL of the service's API, such as `https://ats.example.com/api/v1/public`. */
  baseUrl: string
  /** Your company's name in the API's paths. */
  tenantSlug: string
  /** Your API key. Do not use it in pages that others can open. */
  key: string
  /**
   * Sends the requests.
   * @default globalThis.fetch
   */
  fetch?: typeof fetch
  /**
   * Timeout of a request, in milliseconds.
   * @default 30000
   */
  timeoutMs?: number
  /**
   * Maximum number of retries after 429 or 503 and, for requests that are safe to repeat, after 502, 504 or a lost
   * connection. Only your own PATCH and POST requests are not safe; an `Idempotency-Key` makes POST safe. Before each
   * retry, the client waits for `Retry-After`, up to a minute; without it 0.5 to 1 second, doubled each time.
   * @default 4
   */
  maxRetries?: number
  /** Waits between retries, for tests. Receives the error of the failed request; throw it to stop retrying. */
  sleep?: (ms: number, failure: unknown) => Promise<void>
}

export interface SyncOptions {
  /** Returns the last saved token; `null` to begin. Called once. */
  load?: () => string | null | undefined | Promise<string | null | undefined>
  /** Saves the token of a page. Called after your loop has handled the page. */
  save?: (token: string) => unknown
  /**
   * Called when the token has expired; the sync then begins again. Afterwards, delete every item that it did not
   * contain. Without this function, an expired token throws an `ApiError` with the code `sync_token_expired`.
   */
  restart?: () => unknown
  /** 1 to 200. @default 200 */
  per_page?: number
}

export interface EventsOptions<Type extends string = string> extends SyncOptions {
  /**
   * Called when the token has expired, for example because it is older than the oldest stored event. The feed then
   * begins with the oldest stored event: skip the ids that you have. Without this function, an expired token throws an
   * `ApiError` with the code `sync_token_expired`.
   */
  restart?: () => unknown
  /** The event types, such as `application.created`. A token is only valid for the same types. @default all */
  types?: readonly Type[]
  /**
   * Where to begin without a token: with the oldest stored event, with new events, or with the first event recorded at
   * this time or later.
   * @default 'oldest'
   */
  from?: 'oldest' | 'now' | Date
}

/** Candidates or jobs. */
export interface Lists<Item extends { id: unknown }, Change, Query> {
  /** Reads a list page by page. */
  list (query?: Query): AsyncGenerator<Page<Item>, void>
  /** Returns one item; `null` if there is none with this id. */
  find (id: Item['id']): Promise<Item | null>
  /** Reads all items, then their changes, until it is up to date. Call it again later with the saved token. */
  sync (options?: SyncOptions): AsyncGenerator<SyncPage<Change>, void>
}

/** The API of one tenant. Methods throw an `ApiError` for error responses. */
export interface Client<Types extends ApiTypes = ApiTypes> {
  candidates: Lists<Candidate<Types>, CandidateChange<Types>, CandidateQuery>
  jobs: Lists<Job<Types>, JobChange<Types>, JobQuery>
  webhooks: {
    list (query?: WebhookQuery): AsyncGenerator<Page<Webhook>, void>
    find (id: number): Promise<WebhookWithHealth | null>
    /** The result contains the secret, which cannot be read again. */
    create (webhook: NewWebhook): Promise<WebhookWithSecret>
    update (id: number, changes: Partial<NewWebhook>): Promise<Webhook>
    delete (id: number): Promise<void>
    /**
     * Replaces the secret. Notifications are also signed with the old one for `grace_period_seconds`, a day by default.
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
    /** Retries a delivery now. */
    retryDelivery (id: number, deliveryId: number): Promise<Delivery>
  }
  /** The API keys of the tenant. Your key needs the scope `api_keys:manage`. */
  apiKeys: {
    list (query?: ApiKeyQuery): AsyncGenerator<Page<ApiKey>, void>
    /** The result contains the key, which cannot be read again. */
    create (key: NewApiKey): Promise<CreatedApiKey>
    /** Creates a key that replaces another one, which stays valid for `grace_period_seconds`, a day by default. */
    rotate (id: string, options?: { grace_period_seconds?: number }): Promise<RotatedApiKey>
    revoke (id: string): Promise<void>
  }
  /**
   * Reads the tenant's events in the order in which they were recorded, from the saved token until it is up to date.
   * Returns each event exactly once. Call it again later with the saved token.
   */
  events (options?: EventsOptions<Event<Types>['type']>): AsyncGenerator<SyncPage<Event<Types>>, void>
  /** Returns an event; `null` if none with this id is stored. */
  findEvent (id: string): Promise<Event<Types> | null>
  listEventTypes (query?: PageQuery<'name'>): AsyncGenerator<Page<EventType>, void>
  /** Calls any other operation, at a path such as `/applications`. Returns the response body; `null` for 204. */
  request<Response> (request: ApiRequest): Promise<Response>
}

/** The kinds of operations, with their HTTP methods. `count` is a POST that changes nothing. */
export const verbs = {
  list: 'GET', find: 'GET', follow: 'GET', count: 'POST', post: 'POST', patch: 'PATCH', delete: 'DELETE'
} as const

export type Kind = keyof typeof verbs

type OperationsOf<Methods> = {
  [Name in keyof Methods]: Methods[Name] extends (...given: never[]) => unknown
    ? readonly [kind: Kind, path: string]
    : OperationsOf<Methods[Name]>
}

/** The operation of each method. The first arguments of a method are the ids in its path. */
export const operations: OperationsOf<Omit<Client, 'request'>> = {
  candidates: {
    list: ['list', '/candidates'],
    find: ['find', '/candidates/:id'],
    sync: ['follow', '/candidates/sync']
  },
  jobs: { list: ['list', '/jobs'], find: ['find', '/jobs/:id'], sync: ['follow', '/jobs/sync'] },
  webhooks: {
    list: ['list', '/webhooks'],
    find: ['find', '/webhooks/:id'],
    create: ['post', '/webhooks'],
    update: ['patch', '/webhooks/:id'],
    delete: ['delete', '/webhooks/:id'],
    rotateSecret: ['post', '/webhooks/:id/rotate_secret'],
    preview: ['count', '/webhooks/preview'],
    test: ['post', '/webhooks/:id/dispatch_test'],
    replay: ['post', '/webhooks/:id/replay'],
    listDeliveries: ['list', '/webhooks/:id/deliveries'],
    findDelivery: ['find', '/webhooks/:id/deliveries/:delivery_id'],
    retryDelivery: ['post', '/webhooks/:id/deliveries/:delivery_id/retry']
  },
  apiKeys: {
    list: ['list', '/api_keys'],
    create: ['post', '/api_keys'],
    rotate: ['post', '/api_keys/:id/rotate'],
    revoke: ['delete', '/api_keys/:id']
  },
  events: ['follow', '/events'],
  findEvent: ['find', '/events/:id'],
  listEventTypes: ['list', '/event_types']
}

/** Returns the methods of all operations. Each calls `perform` with its path and the arguments after the ids. */
export function createMethods<Methods> (
  perform: (kind: Kind, path: string, ...given: Array<object | undefined>) => unknown, table: object = operations
): Methods {
  const methods = Object.entries(table).map(([name, entry]) => {
    if (!Array.isArray(entry)) return [name, createMethods(perform, entry)]
    const [kind, path] = entry
    const call = (...given: object[]) => {
      const filled = path.replaceAll(/:\w+/g, () => pathPart(given.shift()))
      return perform(kind, filled, ...given)
    }
    // Lists are iterators. All other methods reject instead of throwing.
    return [name, kind === 'list' || kind === 'follow' ? call : async (...given: object[]) => call(...given)]
  })
  return Object.fromEntries(methods)
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

  async function readData (request: ApiRequest): Promise<unknown> {
    const { status, body } = await send(transport, request)
    const { data } = Object(body) as { data?: unknown }
    if (data === undefined) throw unexpected(status, 'The response has no data')
    return data
  }

  /** Without this check, a proxy's response instead of a page would restart a list forever. */
  async function readPage<Read extends Page<unknown> | SyncPage<unknown>> (path: string, query: object): Promise<Read> {
    const { status, body } = await send(transport, { path, query })
    const { data, meta } = Object(body) as Partial<Read>
    if (!Array.isArray(data) || meta == null) throw unexpected(status, 'The response is not a page')
    return body as Read
  }

  const senders = {
    async * list (path: string, query: PageQuery = {}): AsyncGenerator {
      for (let page = query.page ?? 1, hasMore = true; hasMore; page++) {
        const answer = await readPage<Page<unknown>>(path, { ...query, page })
        const { total_pages: last, total_is_capped: isCapped = false, per_page: perPage } = answer.meta
        hasMore = page < last || (isCapped && answer.data.length === perPage)
        yield answer
      }
    },

    async find (path: string) {
      try {
        return await readData({ path })
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null
        throw error
      }
    },

    /** Reads the items after a token, page by page. */
    async * follow (
      path: string, { load, save, restart, per_page: perPage = 200, types, from }: EventsOptions = {}
    ): AsyncGenerator {
      const start = from instanceof Date ? { since: from.toISOString() } : from === 'now' ? { token: from } : {}
      let token = await load?.() ?? undefined
      let place: object = token === undefined ? start : { token }
      let hasRestarted = false
      for (let hasMore = true; hasMore;) {
        let page: SyncPage<unknown>
        try {
          page = await readPage(path, { 'filter[event_type]': types?.join(), ...place, per_page: perPage })
        } catch (error) {
          // A program killed while saving a token may leave it empty.
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
    },

    count: (path: string, body: unknown) => readData({ method: 'POST', path, body, isRepeatable: true }),

    /** Sends a request that takes effect once, even if it is retried. */
    async post (path: string, body: unknown) {
      try {
        return await readData({ method: 'POST', path, body, idempotencyKey: crypto.randomUUID() })
      } catch (error) {
        // The service may not accept the key. After a 400, nothing was done.
        if (!(error instanceof ApiError) || error.status !== 400) throw error
        return readData({ method: 'POST', path, body })
      }
    },

    patch: (path: string, body: unknown) => readData({ method: 'PATCH', path, body, isRepeatable: true }),

    async delete (path: string) {
      await send(transport, { method: 'DELETE', path })
    }
  }

  return {
    ...createMethods<Omit<Client<Types>, 'request'>>((kind, path, input) => senders[kind](path, input)),
    request: async <Response>(request: ApiRequest) => (await send(transport, request)).body as Response
  }
}

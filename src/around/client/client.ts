import type { Static, TNull, TSchema } from '@sinclair/typebox'
import type { deliveryOperations } from '../../core/api/deliveries.js'
import type { eventOperations, eventTypeOperations } from '../../core/api/events.js'
import type { keyOperations, ownKeyOperations } from '../../core/api/keys.js'
import type { IdsIn, InputArgument, Operation } from '../../core/api/operation.js'
import type { rowOperations } from '../../core/api/rows.js'
import type { syncOperations } from '../../core/api/sync.js'
import type { subscriptionOperations } from '../../core/api/subscriptions.js'
import type { webhookOperations } from '../../core/api/webhooks.js'
import { ApiError, type ApiRequest, type Transport, pathPart, send, unexpected } from './request.js'
import type {
  ApiTypes, Candidate, CandidateChange, CandidateQuery, Change, Event, EventFilters, EventType, Job, JobChange,
  JobQuery, OwnApiKey, Page, PageQuery, RevokedApiKey, RevokeOptions, SyncPage
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
   * Timeout of each attempt, in milliseconds. The client waits as long for a running request with the same key.
   * @default 30000
   */
  timeoutMs?: number
  /**
   * Maximum number of retries after the API's own 429 and 503 and, for requests that are safe to repeat, after any 429,
   * 502, 503 or 504, a lost connection or a timeout. Only your own PATCH and POST requests are not safe; an
   * `Idempotency-Key` makes POST safe. Before each retry, the client waits for `Retry-After`, up to a minute; without
   * it 0.5 to 1 second, doubled each time.
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
  /**
   * The event types, such as `application.created`. A token is only valid for the same types, or one of all
   * events.
   * @default all
   */
  types?: readonly Type[]
  /**
   * Only events whose data has these values, as in `filters` of a webhook. A token is only valid for the same filters,
   * or one of all events.
   * @default all
   */
  filters?: EventFilters | null
  /**
   * Where to begin without a token: with the oldest stored event, with new events, or with the first event recorded at
   * this time or later.
   * @default 'oldest'
   */
  from?: 'oldest' | 'now' | Date
}

export interface PostOptions {
  /**
   * Sent as `Idempotency-Key`: a call with the same key and arguments takes effect once within 24 hours, even from
   * another process. 1 to 255 visible ASCII characters. The error of a failed call has the key as `idempotencyKey`.
   * @default a random key, or none if the service does not accept it
   */
  idempotencyKey?: string
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

/** The kinds of operations, with their HTTP methods. `count` is a POST that changes nothing, `run` has no body. */
export const verbs = {
  list: 'GET', find: 'GET', follow: 'GET', count: 'POST', post: 'POST', run: 'POST', patch: 'PATCH', delete: 'DELETE'
} as const

export type Kind = keyof typeof verbs

/** The operations of the API, by the names of the client's methods. */
interface ApiOperations {
  candidates: RowOperations<'candidate'>
  jobs: RowOperations<'job'>
  webhooks: WebhookOperations
  apiKeys: ReturnType<typeof keyOperations>
  findOwnApiKey: typeof ownKeyOperations['own']
  subscriptions: typeof subscriptionOperations
  events: typeof eventOperations['list']
  findEvent: typeof eventOperations['find']
  listEventTypes: typeof eventTypeOperations['listEventTypes']
}

type RowOperations<Of extends 'candidate' | 'job'> =
  ReturnType<typeof rowOperations<Of, object, TSchema>> & ReturnType<typeof syncOperations<Of>>

type WebhookOperations = Omit<typeof webhookOperations, 'import' | 'sendTest'> & typeof deliveryOperations &
  { test: typeof webhookOperations['sendTest'] }

/** The kind and path of each operation. The compiler reports a missing one. */
type TableOf<All> = {
  readonly [Name in keyof All]: All[Name] extends Operation<infer Verb, infer Path, infer Shape, infer Input>
    ? readonly [kind: KindOf<Verb, Shape, Input>, path: Path]
    : TableOf<All[Name]>
}

type KindOf<Verb, Shape, Input extends TSchema> =
  Verb extends 'GET' ? Shape extends 'one' ? 'find' : Shape extends 'follow' | 'sync' ? 'follow' : 'list'
    : Verb extends 'POST' ? keyof Static<Input> extends never ? 'run' : 'post' | 'count'
      : Verb extends 'PATCH' ? 'patch' : 'delete'

/** The operation of each method. The first arguments of a method are the ids in its path. */
export const operations = {
  candidates: {
    list: ['list', '/candidates'],
    find: ['find', '/candidates/:id'],
    sync: ['follow', '/candidates/sync']
  },
  jobs: { list: ['list', '/jobs'], find: ['find', '/jobs/:id'], sync: ['follow', '/jobs/sync'] },
  webhooks: {
    list: ['list', '/webhooks'],
    find: ['find', '/webhooks/:id'],
    /** The result contains the secret, which cannot be read again. */
    create: ['post', '/webhooks'],
    update: ['patch', '/webhooks/:id'],
    delete: ['delete', '/webhooks/:id'],
    /**
     * Replaces the secret. Notifications are also signed with the old one for `grace_period_seconds`, a day by default.
     */
    rotateSecret: ['post', '/webhooks/:id/rotate_secret'],
    /** Counts the recent events that a webhook with these event types and filters would have received. */
    preview: ['count', '/webhooks/preview'],
    /** Sends a test notification and waits for its result. */
    test: ['post', '/webhooks/:id/dispatch_test'],
    /** Sends past events again. */
    replay: ['post', '/webhooks/:id/replay'],
    listDeliveries: ['list', '/webhooks/:id/deliveries'],
    findDelivery: ['find', '/webhooks/:id/deliveries/:delivery_id'],
    /** Explains whether and why a webhook got an event or not. */
    explain: ['find', '/webhooks/:id/explain'],
    /** Retries a delivery now. */
    retryDelivery: ['run', '/webhooks/:id/deliveries/:delivery_id/retry']
  },
  apiKeys: {
    list: ['list', '/api_keys'],
    /** The result contains the key, which cannot be read again. */
    create: ['post', '/api_keys'],
    /** Creates a key that replaces another one, which stays valid for `grace_period_seconds`, a day by default. */
    rotate: ['post', '/api_keys/:id/rotate'],
    revoke: ['delete', '/api_keys/:id']
  },
  findOwnApiKey: ['find', '/api_key'],
  subscriptions: {
    list: ['list', '/subscriptions'],
    end: ['delete', '/subscriptions/:id']
  },
  events: ['follow', '/events'],
  findEvent: ['find', '/events/:id'],
  listEventTypes: ['list', '/event_types']
} as const satisfies TableOf<ApiOperations>

/** The methods of these operations. The ids in a path are numbers, or of the type `OwnId`. */
type Methods<Table, Operations, OwnId = number> = {
  [Name in keyof Table]: Name extends keyof Operations ? MethodOf<Table[Name], Operations[Name], OwnId> : never
}

type MethodOf<Row, Declared, OwnId> = Row extends readonly [infer Of extends Kind, string]
  ? Declared extends Operation<infer Verb, infer Path, Operation['shape'], infer Input, infer Item>
    ? (...given: [...IdsIn<Path, OwnId>, ...InputArgument<Verb, Input>, ...OptionsOf<Of>]) => Of extends 'list'
        ? AsyncGenerator<Page<Static<Item>>, void>
        : Promise<Item extends TNull ? void : Static<Item> | (Of extends 'find' ? null : never)>
    : never
  : never

type OptionsOf<Of extends Kind> = Of extends 'post' | 'run' ? [options?: PostOptions | undefined] : []

/** The API of one tenant. Methods throw an `ApiError` for error responses. */
export interface Client<Types extends ApiTypes = ApiTypes> {
  candidates: Lists<Candidate<Types>, CandidateChange<Types>, CandidateQuery<Types>>
  jobs: Lists<Job<Types>, JobChange<Types>, JobQuery<Types>>
  webhooks: Methods<typeof operations['webhooks'], WebhookOperations>
  /** The API keys of the tenant. Your key needs the scope `api_keys:manage`. */
  apiKeys: Omit<Methods<typeof operations['apiKeys'], ApiOperations['apiKeys'], string>, 'revoke'> & {
    revoke (id: string, options?: RevokeOptions): Promise<RevokedApiKey>
  }
  /** Returns what your key can do, for example to test a connection; `null` from a service of an older version. */
  findOwnApiKey (): Promise<OwnApiKey | null>
  /** The subscriptions that agents created over MCP. */
  subscriptions: Methods<typeof operations['subscriptions'], ApiOperations['subscriptions'], string>
  /**
   * Reads the tenant's events in the order in which they were recorded, from the saved token until it is up to date.
   * Returns each event exactly once. Call it again later with the saved token.
   */
  events (options?: EventsOptions<Event<Types>['type']>): AsyncGenerator<SyncPage<Event<Types>>, void>
  /** Returns an event; `null` if none with this id is stored. */
  findEvent (id: string): Promise<Event<Types> | null>
  listEventTypes (query?: PageQuery<'name'>): AsyncGenerator<Page<EventType>, void>
  /**
   * Reads all items of a list of your vendor, then their changes, at a path such as `/applications/sync`:
   * `client.sync<'application', Application>(path, options)`.
   */
  sync<Kind extends string, Item extends { id: unknown }> (
    path: string, options?: SyncOptions
  ): AsyncGenerator<SyncPage<Change<Kind, Item>>, void>
  /** Calls any other operation, at a path such as `/applications`. Returns the response body; `null` for 204. */
  request<Response> (request: ApiRequest): Promise<Response>
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

  async function readData (request: ApiRequest, isKeyOptional = false): Promise<unknown> {
    const answer = await send(transport, request, (body, status) => {
      if (readField(body, 'data') === undefined) throw unexpected(status, 'The response has no data')
    }, isKeyOptional)
    return readField(answer, 'data')
  }

  /** Without this check, a proxy's response instead of a page would restart a list forever. */
  async function readPage<Read extends Page<unknown> | SyncPage<unknown>> (path: string, query: object): Promise<Read> {
    return await send(transport, { path, query }, (body, status) => {
      const isPage = Array.isArray(readField(body, 'data')) && readField(body, 'meta') != null
      if (!isPage) throw unexpected(status, 'The response is not a page')
    }) as Read
  }

  const senders = {
    async * list (path: string, query: PageQuery = {}): AsyncGenerator {
      for (let page = query.page ?? 1, hasMore = true; hasMore; page++) {
        const answer = await readPage<Page<unknown>>(path, { ...query, page })
        const { total_pages: last, total_is_capped: isCapped = false, per_page: perPage } = answer.meta
        const { length } = answer.data
        // Any number of pages can follow an empty one if a proxy changes `meta`.
        hasMore = length > 0 && (page < last || (isCapped && length === perPage))
        yield answer
      }
    },

    async find (path: string, query: object = {}) {
      try {
        return await readData({ path, query })
      } catch (error) {
        if (error instanceof ApiError && error.code === 'not_found') return null
        throw error
      }
    },

    /** Reads the items after a token, page by page. */
    async * follow (
      path: string, { load, save, restart, per_page: perPage = 200, types, filters, from }: EventsOptions = {}
    ): AsyncGenerator {
      const selected = {
        'filter[event_type]': types?.join(), 'filter[data]': filters ? JSON.stringify(filters) : undefined
      }
      const start = from instanceof Date ? { since: from.toISOString() } : from === 'now' ? { token: from } : {}
      let token = await load?.() ?? undefined
      let place: object = token === undefined ? start : { token }
      let hasRestarted = false
      for (let hasMore = true; hasMore;) {
        let page: SyncPage<unknown>
        try {
          page = await readPage(path, { ...selected, ...place, per_page: perPage })
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

    /** Sends a request that takes effect once, even if it is retried. The caller's key may have been used before. */
    post (path: string, body?: unknown, { idempotencyKey }: PostOptions = {}) {
      const key = idempotencyKey ?? createKey()
      return readData({ method: 'POST', path, body, idempotencyKey: key }, idempotencyKey === undefined)
    },

    run: (path: string, options?: PostOptions): Promise<unknown> => senders.post(path, undefined, options),

    patch: (path: string, body: unknown) => readData({ method: 'PATCH', path, body, isRepeatable: true }),

    async delete (path: string, query: object = {}) {
      const body = await send(transport, { method: 'DELETE', path, query })
      return (body as { data?: unknown } | null)?.data
    }
  }

  return {
    ...createMethods<Omit<Client<Types>, 'request' | 'sync'>>(
      (kind, path, input, options) => senders[kind](path, input, options)
    ),
    sync: (path: string, options?: SyncOptions) => senders.follow(path, options) as AsyncGenerator<never, void>,
    request: async <Response>(request: ApiRequest) => await send(transport, request) as Response
  }
}

/** Returns a random `Idempotency-Key`. Unlike `randomUUID`, it also works on pages without TLS. */
export function createKey (): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function readField (value: unknown, name: string): unknown {
  return Object(value)[name]
}

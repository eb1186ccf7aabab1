import type { EventFilters, Tenant } from '../ports/index.js'
import { pagingQuery } from '../shared/paging.js'
import { DateTimeOf, Nullable, OneOf, Type } from '../shared/typebox.js'
import { AttemptError } from './deliveries.js'
import { operation } from './operation.js'
import { filterValueTypes, filtersExample } from './parameters.js'

/** Who subscribes, according to the key check. Never read it from a message: a client could name somebody else. */
export interface Subscriber {
  tenant: Tenant
  /** The id of the API key, or what the key lookup returned for an access token. */
  principal: string
}

/** Identifies one of a subscriber's subscriptions. */
export interface SubscriptionKey {
  eventType: string
  filters: EventFilters | null
  /** The callback's address. */
  url: string
}

/** A request to subscribe, or to refresh. */
export interface SubscriptionRequest extends SubscriptionKey {
  secret: string
  /** Where an earlier subscription or a poll stopped; `null` to begin now. */
  cursor: string | null
  /** Only events recorded at this time or later; `null` for no limit. */
  since: string | null
  /** `null` for the usual time. */
  ttlMs: number | null
}

const SubscriptionId = Type.String({ examples: ['sub_4f3c0a6d5b8e4a7c9d1e2f3a4b5c6d7e'] })

/** An agent's subscription, without the address of its callback, which can contain a token. */
export const Subscription = Type.Object(
  {
    id: SubscriptionId,
    key_id: Type.String({ description: 'The API key or the sign-in of the agent', examples: ['key_1'] }),
    event_type: Type.String({ examples: ['application.hired'] }),
    filters: Type.Unsafe<EventFilters | null>({
      type: ['object', 'null'],
      additionalProperties: { type: 'array', items: { type: filterValueTypes } },
      description: 'The data that its events have. null for all events of the type',
      examples: filtersExample
    }),
    callback_host: Type.String({ description: 'The host that receives the events', examples: ['agent.example'] }),
    status: OneOf(['active', 'failing', 'throttled'], {
      description: 'failing: the last attempt failed. throttled: its host asked to wait'
    }),
    last_delivered_at: Nullable(DateTimeOf('When an event was last delivered')),
    last_error: AttemptError,
    last_response_status: Nullable(Type.Integer({ description: 'The HTTP status of the failed attempt', examples: [503] })),
    created_at: DateTimeOf('When the agent subscribed'),
    expires_at: DateTimeOf('When it ends, unless the agent refreshes it')
  },
  { title: 'Subscription', description: "An agent's subscription to events" }
)

const SubscriptionQuery = Type.Object(
  {
    ...pagingQuery(['id', 'created_at', 'expires_at'], 'id'),
    'filter[key_id]': Type.Optional(Type.String({ minLength: 1, maxLength: 255, examples: ['key_1'] }))
  },
  { additionalProperties: false }
)

const common = {
  tag: 'subscriptions',
  // Agents manage theirs with the methods of the extension.
  hints: false
} as const

/** The operations on agents' subscriptions. Agents create them over MCP. */
export const subscriptionOperations = {
  list: operation({
    ...common,
    operationId: 'listSubscriptions',
    method: 'GET',
    path: '/subscriptions',
    summary: "List the agents' subscriptions",
    description: 'Returns the subscriptions that agents created over MCP and that have not ended.',
    input: SubscriptionQuery,
    item: Subscription,
    shape: 'page',
    results: { 200: 'A page of subscriptions' }
  }),
  end: operation({
    ...common,
    operationId: 'endSubscription',
    method: 'DELETE',
    path: '/subscriptions/:id',
    summary: "End an agent's subscription",
    description:
      'Sends its callback a last message. The agent can subscribe again unless its key is revoked.',
    params: Type.Object({ id: SubscriptionId }),
    shape: 'none',
    resource: 'subscription',
    results: { 204: 'The subscription has ended' }
  })
}

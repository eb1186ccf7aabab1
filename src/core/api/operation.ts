import type { Static, TNull, TObject, TSchema } from '@sinclair/typebox'
import type { Creator, Id, Tenant } from '../ports/index.js'
import type { KeepAnswer } from '../shared/answers.js'
import type { Page } from '../shared/paging.js'
import { type InputOf, Type } from '../shared/typebox.js'

type Capability = 'read' | 'write' | 'secrets' | 'bodies' | 'test' | 'replay' | 'keys'

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE' | null

type Shape = 'page' | 'log' | 'follow' | 'sync' | 'one' | 'none'

/** An operation of the API as data, from which routes, tools, calls, client methods and the audit are derived. */
export interface Operation<
  Verb extends Method = Method, Path extends string = string, Answer extends Shape = Shape,
  Input extends TSchema = TSchema, Item extends TSchema = TSchema
> {
  operationId: string
  /** `null` for an operation that only code can call. */
  method: Verb
  /** The path below the tenant, with its parameters. */
  path: Path
  tag: 'candidates' | 'jobs' | 'webhooks' | 'deliveries' | 'events' | 'subscriptions' | 'api_keys'
  /** The scopes that a key needs. @default both scopes of webhooks */
  scopes?: readonly string[]
  /** Scopes of which a key needs at least one. */
  anyScope?: readonly string[]
  summary: string
  description: string
  /** The schema of the path's parameters. @default the ids of a webhook and a delivery */
  params?: TSchema
  /** The schema of the query for GET and DELETE, otherwise of the body. */
  input?: Input
  /** The schema of an item in the result. */
  item?: Item
  /** The result: a page of a list, of a long log, after a token or of a sync; one item; or none. */
  shape: Answer
  /** Describes the response of each status. */
  results: Readonly<Record<number, string>>
  /** @default the only status of `results` */
  statusFor? (input: Static<Input>): number
  /** Capabilities that a portal session needs. @default ['write'], for GET ['read'] */
  capabilities?: readonly Capability[]
  /** Rules for portal sessions without the capability `bodies`. */
  withoutBodies?: SessionRules<Static<Input>>
  /** The kind of record that it reads or changes, for the audit. */
  resource?: 'candidate' | 'job' | 'event' | 'webhook' | 'delivery' | 'subscription' | 'api_key'
  /** Hints for agents, by default derived from the method; `false` hides the operation from agents. */
  hints?: false | { readOnly?: boolean, destructive?: boolean, idempotent?: boolean, openWorld?: boolean }
  /** Whether it needs the tenant's slug in addition to the id. */
  namesTenant?: boolean
  /** Whether its response contains a secret, so that it can only be stored sealed. */
  returnsSecret?: boolean
  /** Whether it passes an answer to the storage, which stores it with the work. */
  isAtomic?: boolean
  /** Whether it needs a storage with a feed of events. */
  needsFeed?: boolean
  /** Whether its response contains the body of an event, which HEAD does not read. */
  hasBody?: boolean
}

interface SessionRules<Input> {
  /** Explains the rules in the OpenAPI document. */
  note?: string
  /** Returns whether the input is forbidden. */
  forbids? (input: Input): boolean
  /** The schema of the item in an API with portal sessions, with and without bodies. */
  item?: TSchema
  hide? (item: unknown): unknown
}

/** Infers the types of an operation. */
export function operation<
  const Verb extends Method, const Path extends string, const Answer extends Shape,
  Input extends TSchema = TObject<Record<never, never>>, Item extends TSchema = TNull
> (declared: Operation<Verb, Path, Answer, Input, Item>): Operation<Verb, Path, Answer, Input, Item> {
  return declared
}

/** The body of an operation that takes none: absent or `{}`. The document does not show it. */
export const NoBody = Type.Object({}, { additionalProperties: false })

/** What an operation is performed with. `id` and `deliveryId` are set if its path has them. */
export interface Given<Input = unknown, OwnId extends Id = Id> {
  tenant: Tenant
  caller: Creator
  id: OwnId
  deliveryId: number
  /** Whether the body of the event is not needed. */
  omitBody: boolean
  input: Input
  /** Returns the answer that the storage stores with the work, for a request with `Idempotency-Key`. */
  keep?: KeepAnswer | undefined
  /** The host's open transaction, for a call from code. */
  transaction?: unknown
}

export type ResultOf<Entry> =
  Entry extends Operation<Method, string, infer Answer, TSchema, infer Item>
    ? Answer extends 'page' | 'log' ? Page<Static<Item>> : Answer extends 'one' ? Static<Item> : object
    : never

/** The functions that perform these operations. They return `null` if the record does not exist. */
export type Performed<Entries> = {
  [Name in keyof Entries]: (given: Given<ValidInput<Entries[Name]>, number>) => Promise<ResultOf<Entries[Name]> | null>
}

/** The valid input of an operation, with its defaults. */
export type ValidInput<Entry> = Entry extends Operation<Method, string, Shape, infer Input> ? Static<Input> : never

/** The ids in a path, as arguments. */
export type IdsIn<Path, OwnId = number> = Path extends `${string}/:id/${string}/:delivery_id${string}`
  ? [id: OwnId, deliveryId: number]
  : Path extends `${string}/:id${string}` ? [id: OwnId] : []

/** The input as an argument, which is optional if all of its fields are. A change needs at least one. */
export type InputArgument<Method, Input extends TSchema> =
  keyof Static<Input> extends never ? []
    : Method extends 'PATCH' ? [input: InputOf<Input>]
      : Record<never, never> extends InputOf<Input> ? [input?: InputOf<Input> | undefined]
        : [input: InputOf<Input>]

/** Returns the names of the ids that an operation takes: none, `id`, or `id` and `deliveryId`. */
export function idsOf ({ path }: Pick<Operation, 'path'>): ReadonlyArray<'id' | 'deliveryId'> {
  return (['id', 'deliveryId'] as const).slice(0, path.split('/:').length - 1)
}

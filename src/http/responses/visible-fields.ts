import type { TObject, TSchema } from '@sinclair/typebox'
import fastJsonStringify from 'fast-json-stringify'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../../errors.js'
import { trimEntries } from '../../shared/cached.js'
import { readCaller } from '../auth.js'
import type { VisibleFields } from '../callers.js'
import { Type } from '../../shared/type-builder.js'

const kSerialize = Symbol('serialize for a key with limited fields')

type Serialize = (payload: unknown) => string

interface LimitedReply extends FastifyReply {
  [kSerialize]?: Serialize | null
}

/** Lists of fields whose serializers are kept. */
const maxSerializers = 100

/** Decorates the replies of a scope. */
export function decorateVisibleFields (scope: FastifyInstance): void {
  scope.decorateReply(kSerialize, null)
}

/** Returns the serializer for a caller who does not see all fields; `null` for anyone else. */
export function readLimitedSerializer (reply: LimitedReply): Serialize | null {
  return reply[kSerialize] ?? null
}

/** Sends the result of a handler, a text, as it is. */
export function sendAsIs (reply: LimitedReply): void {
  reply[kSerialize] = String
}

/**
 * Returns a function that limits the response to the fields that its caller sees. `answerOf` returns the schema of the response
 * for the schema of an item.
 */
export function createFieldLimit<Item extends TSchema> (
  kind: keyof VisibleFields, item: Item, answerOf: (item: Item) => TSchema
): (request: FastifyRequest, reply: FastifyReply) => void {
  const serializers = new Map<string, Serialize>()
  const { properties, required = [] } = item as TSchema as TObject

  function compile (visible: readonly string[]): Serialize {
    const isShown = (name: string): boolean => name === 'id' || visible.includes(name)
    const shown = Object.fromEntries(Object.entries(properties).filter(([name]) => isShown(name)))
    const limited: TSchema = Type.Unsafe({ ...item, properties: shown, required: required.filter(isShown) })
    return fastJsonStringify(answerOf(limited as Item) as object as fastJsonStringify.Schema)
  }

  return (request, reply: LimitedReply) => {
    const visible = readCaller(request).fields[kind]
    if (visible === null) return
    const name = JSON.stringify(visible)
    const serialize = serializers.get(name) ?? compile(visible)
    serializers.set(name, serialize)
    trimEntries(serializers, maxSerializers)
    reply[kSerialize] = serialize
  }
}

/**
 * Throws a 400 for a filter or `sort` by a published field that the caller does not see, because the result would reveal the
 * field. `filters` are the fields that each filter reads.
 */
export function refuseHiddenFields (request: FastifyRequest, kind: keyof VisibleFields, published: readonly string[], filters: Record<string, string>): void {
  const visible = readCaller(request).fields[kind]
  if (visible === null) return
  const query = request.query as Record<string, unknown>
  const sorted = String(query.sort).split(',').map((item) => ['sort', item.replace(/^-/, '')] as const)
  const filtered = Object.entries(filters).filter(([name]) => query[name] !== undefined)
  for (const [parameter, field] of [...filtered, ...sorted]) {
    // Fields that nobody sees, such as created_at, are the same for every key.
    const isHidden = field !== 'id' && published.includes(field) && !visible.includes(field)
    if (isHidden) throw new Refusal(parameter, `the API key does not see the field ${field}`, 'query')
  }
}

import type { TObject, TSchema } from '@sinclair/typebox'
import fastJsonStringify from 'fast-json-stringify'
import type { FastifyRequest } from 'fastify'
import { Refusal } from '../../errors.js'
import { LruMap } from '../../shared/lru-map.js'
import { readCaller, stateOf, type VisibleFields } from '../request.js'
import { Type } from '../../shared/typebox.js'

type Serialize = (payload: unknown) => string

/** Lists of fields whose serializers are kept. */
const maxSerializers = 100

/**
 * Returns a function that limits the response to the fields that its caller sees. `answerOf` returns the schema of
 * the response for the schema of an item.
 */
export function createFieldLimit<Item extends TSchema> (
  kind: keyof VisibleFields, item: Item, answerOf: (item: Item) => TSchema
): (request: FastifyRequest) => void {
  const serializers = new LruMap<Serialize>(maxSerializers)
  const { properties, required = [] } = item as TSchema as TObject

  function compile (visible: readonly string[]): Serialize {
    const isShown = (name: string): boolean => name === 'id' || visible.includes(name)
    const shown = Object.fromEntries(Object.entries(properties).filter(([name]) => isShown(name)))
    const limited: TSchema = Type.Unsafe({ ...item, properties: shown, required: required.filter(isShown) })
    return fastJsonStringify(answerOf(limited as Item) as object as fastJsonStringify.Schema)
  }

  return (request) => {
    const visible = readCaller(request).fields?.[kind] ?? null
    if (visible === null) return
    stateOf(request).serialize = serializers.getOrCreate(JSON.stringify(visible), () => compile(visible))
  }
}

/**
 * Throws a 400 for a filter or `sort` by a published field that the caller does not see, because the result would
 * reveal the field. `filters` are the fields that each filter reads.
 */
export function refuseHiddenFields (
  request: FastifyRequest,
  kind: keyof VisibleFields,
  published: readonly string[],
  filters: Record<string, string>
): void {
  const visible = readCaller(request).fields?.[kind] ?? null
  if (visible === null) return
  const query = request.query as Record<string, unknown>
  const sorted = String(query.sort)
    .split(',')
    .map((item) => ['sort', item.replace(/^-/, '')] as const)
  const filtered = Object.entries(filters).filter(([name]) => query[name] !== undefined)
  for (const [parameter, field] of [...filtered, ...sorted]) {
    // Fields that nobody sees, such as created_at, are the same for every key.
    const isHidden = field !== 'id' && published.includes(field) && !visible.includes(field)
    if (isHidden) throw new Refusal(parameter, `the API key does not see the field ${field}`, 'query')
  }
}

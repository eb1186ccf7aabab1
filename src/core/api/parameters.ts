import type { TSchema, TUnsafe } from '@sinclair/typebox'
import type { Id, IdKind, IdKinds } from '../ports/index.js'
import { textIdPattern } from '../shared/ids.js'
import { Type } from '../shared/typebox.js'

export const textIdExamples = {
  candidate: '0197f4c2-8a10-7d3e-9b51-6c2f8e1a4d70',
  job: '0197f4c2-8a11-7b62-8f04-1e9d3c5a7b28',
  source: '0197f4c2-8a12-7a95-a3d6-4b7f2e8c1d09',
  recruiter: '0197f4c2-8a13-7c1f-b2e7-9a5d6f3c8e41'
}

/** Returns the schema of an id in a response; `integer` is the schema of integer ids. */
export function answeredId (kind: IdKind, integer: TSchema, example: string): TUnsafe<Id> {
  if (kind === 'integer') return Type.Unsafe<Id>(integer)
  const { description } = integer
  return Type.Unsafe<Id>(Type.String({ ...(description === undefined ? {} : { description }), examples: [example] }))
}

/** Returns the schema of an id in a request. Invalid text gets 400. */
export function requestedId (kind: IdKind, integer: TSchema, example: string): TUnsafe<Id> {
  if (kind === 'integer') return Type.Unsafe<Id>(integer)
  return Type.Unsafe<Id>(Type.String({ ...answeredId(kind, integer, example), pattern: textIdPattern }))
}

/** The parameter `filter[q]`. `parseSearch` checks its length after trimming. */
export const Search = Type.String({
  description:
    'Only items whose name contains this text, ignoring case: 1 to 200 characters after trimming. ' +
    'Blank text is ignored',
  examples: ['ada']
})

/** Without bounds: an id out of range gets 404, like any unknown id, not 400. */
function idOf (what: string) {
  return Type.Integer({ description: `The id of the ${what}`, examples: [1] })
}
export function rowParams (name: 'candidate' | 'job', ids: IdKinds) {
  return Type.Object({ id: requestedId(ids[name], idOf(name), textIdExamples[name]) })
}
export const WebhookParams = Type.Object({ id: idOf('webhook') })
export const DeliveryParams = Type.Object({ id: idOf('webhook'), delivery_id: idOf('delivery') })

export const filtersExample = [{ 'data.job_id': [1, 7], 'data.stage': ['offer'] }]
export const filterValueTypes = ['string', 'number', 'boolean', 'null']

const maxNumber = Number.MAX_SAFE_INTEGER

/** The rules of `EventFilters`, for schemas. */
export const filterRules = {
  maxProperties: 10,
  propertyNames: {
    pattern: '^data(?:\\.[^.\\u0000-\\u001F\\u007F-\\u009F]{1,64}){1,4}$',
    description: 'data and 1 to 4 names joined by dots, such as data.job_id'
  },
  additionalProperties: {
    type: 'array',
    minItems: 1,
    maxItems: 50,
    items: { type: filterValueTypes, maxLength: 255, minimum: -maxNumber, maximum: maxNumber }
  }
}

export const tokenExample = 'WyI3ZjNhOTEuNzQyLiIsbnVsbF0.vJ3hq0mW8d1L5uYb2nQ4s6Xz9c7RkTfGpEaHoNiMjUw'

/** The query of a resource that clients read with tokens. */
export function tokenQuery (description: string, example: string) {
  return {
    token: Type.Optional(Type.String({ pattern: '\\S', description, examples: [example] })),
    per_page: Type.Integer({ minimum: 1, maximum: 200, default: 100, description: 'Maximum number of items per page' })
  }
}

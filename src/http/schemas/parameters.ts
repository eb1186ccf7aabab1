import { Type } from '@sinclair/typebox'
import type { IdKinds } from '../../ports/index.js'
import { requestedId, textIdExamples } from './ids.js'

/** The parameter `filter[q]`. `parseSearch` checks its length after trimming. */
export const Search = Type.String({
  description: 'Text that the name contains, ignoring case; 1 to 200 characters after trimming. Blank text is ignored',
  examples: ['ada']
})
export const UpdatedAfter = Type.String({
  format: 'date-time',
  description: 'Only items updated strictly later',
  examples: ['2026-03-01T00:00:00Z']
})

/** Has no bounds: an id out of range gets 404 like any other unknown id, not 400. */
function idOf (what: string) {
  return Type.Integer({ description: `The id of the ${what}`, examples: [1] })
}
/** Returns the path parameters of one candidate or job. */
export function rowParams (name: 'candidate' | 'job', ids: IdKinds) {
  return Type.Object({ id: requestedId(ids[name], idOf(name), textIdExamples[name]) })
}
export const WebhookParams = Type.Object({ id: idOf('webhook') })
export const DeliveryParams = Type.Object({ id: idOf('webhook'), delivery_id: idOf('delivery') })

/** The body of an operation that takes none: absent or `{}`. The document does not show it. */
export const NoBody = Type.Object({}, { additionalProperties: false })

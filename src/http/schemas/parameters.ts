import { Type } from '@sinclair/typebox'

const maxPage = 2147483647
const maxPerPage = 200

/** The query parameters that every list takes. */
export function pagingQuery (sortable: readonly string[], defaultSort: string) {
  const item = `-?(${sortable.join('|')})`
  return {
    page: Type.Integer({ minimum: 1, maximum: maxPage, default: 1, description: 'Which page, from 1; one beyond the last is empty' }),
    per_page: Type.Integer({ minimum: 1, maximum: maxPerPage, default: 25, description: 'How many items a page has' }),
    sort: Type.String({
      pattern: `^${item}(,${item}){0,2}$`,
      default: defaultSort,
      examples: [`-${sortable.at(-1)}`],
      description: `up to 3 of ${sortable.join(', ')}, separated by commas; a leading minus sign sorts descending`
    })
  }
}

/** The parameter `filter[q]`; its length is checked once it is trimmed. */
export const Search = Type.String({
  description: 'Literal text in any letter case, 1 to 200 characters after trimming; blank counts as absent',
  examples: ['ada']
})
/** The parameter `filter[updated_after]`. */
export const UpdatedAfter = Type.String({
  format: 'date-time',
  description: 'Only what was updated strictly later',
  examples: ['2026-03-01T00:00:00Z']
})

/** Bounds are left out: an id out of range is one that does not exist. */
function idOf (what: string) {
  return Type.Integer({ description: `The id of the ${what}`, examples: [1] })
}
/** The path of one candidate, below the tenant. */
export const CandidateParams = Type.Object({ id: idOf('candidate') })
/** The path of one job, below the tenant. */
export const JobParams = Type.Object({ id: idOf('job') })
/** The path of one webhook, below the tenant. */
export const WebhookParams = Type.Object({ id: idOf('webhook') })
/** The path of one delivery of a webhook. */
export const DeliveryParams = Type.Object({ id: idOf('webhook'), delivery_id: idOf('delivery') })

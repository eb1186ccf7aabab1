const sortItem = '-?(id|full_name|created_at|updated_at)'

type IdType = 'integer' | 'string'

export const candidateQuery = (idType: IdType) => ({
  type: 'object',
  additionalProperties: false,
  properties: {
    page: { type: 'integer', minimum: 1, maximum: 2147483647, default: 1 },
    per_page: { type: 'integer', minimum: 1, maximum: 200, default: 25 },
    sort: { type: 'string', pattern: `^${sortItem}(,${sortItem}){0,2}$`, default: 'id' },
    'filter[recruiter_id]': idType === 'integer'
      ? { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER }
      : { type: 'string', pattern: '^[!-.0-~]{1,64}$' },
    'filter[q]': { type: 'string', maxLength: 200 },
    'filter[updated_after]': { type: 'string', format: 'date-time' }
  }
})

export const candidatePage = (idType: IdType) => ({
  type: 'object',
  required: ['data', 'meta'],
  properties: {
    data: {
      type: 'array',
      items: {
        type: 'object',
        required: ['id', 'full_name', 'headline', 'source_id'],
        properties: {
          id: { type: idType },
          full_name: { type: 'string' },
          headline: { type: ['string', 'null'] },
          source_id: { type: [idType, 'null'] }
        }
      }
    },
    meta: {
      type: 'object',
      required: ['page', 'per_page', 'total', 'total_pages'],
      properties: {
        page: { type: 'integer' },
        per_page: { type: 'integer' },
        total: { type: 'integer' },
        total_pages: { type: 'integer' }
      }
    }
  }
})

const sortItem = '-?(id|full_name|created_at|updated_at)'

export const candidateQuery = {
  type: 'object',
  additionalProperties: false,
  properties: {
    page: { type: 'integer', minimum: 1, maximum: 2147483647, default: 1 },
    per_page: { type: 'integer', minimum: 1, maximum: 200, default: 25 },
    sort: { type: 'string', pattern: `^${sortItem}(,${sortItem}){0,2}$`, default: 'id' },
    'filter[recruiter_id]': { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    'filter[q]': { type: 'string', maxLength: 200 },
    'filter[updated_after]': { type: 'string', format: 'date-time' }
  }
}

export const candidatePage = {
  type: 'object',
  required: ['data', 'meta'],
  properties: {
    data: {
      type: 'array',
      items: {
        type: 'object',
        required: ['id', 'full_name', 'headline', 'source_id'],
        properties: {
          id: { type: 'integer' },
          full_name: { type: 'string' },
          headline: { type: ['string', 'null'] },
          source_id: { type: ['integer', 'null'] }
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
}

import { Type } from '@sinclair/typebox'
import type { JobSortField } from '../../ports/index.js'
import { pagingQuery } from '../../shared/paging.js'
import { Search, UpdatedAfter } from './parameters.js'

/** A job, without the fields of the option `jobFields`. */
export const Job = Type.Object({
  id: Type.Integer({ examples: [501] }),
  name: Type.String({ examples: ['Backend Engineer (Lyon)'] }),
  status: Type.String({ description: '`published` if people can apply; other values are defined by the vendor', examples: ['published'] })
}, { title: 'Job' })

/** Fields that `sort` accepts. */
export const jobSortFields: readonly JobSortField[] = ['id', 'name', 'status', 'created_at', 'updated_at']

/** The query of the job list. */
export const JobQuery = Type.Object({
  ...pagingQuery(jobSortFields, 'id'),
  'filter[status]': Type.Optional(Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'Only jobs with exactly this status',
    examples: ['published']
  })),
  'filter[q]': Type.Optional(Search),
  'filter[updated_after]': Type.Optional(UpdatedAfter)
}, { additionalProperties: false })

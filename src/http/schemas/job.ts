import { Type } from '@sinclair/typebox'
import type { IdKinds, JobSortField } from '../../ports/index.js'
import { pagingQuery } from '../../shared/paging.js'
import { answeredId, textIdExamples } from './ids.js'
import { Search, UpdatedAfter } from './parameters.js'

const id = Type.Integer({ examples: [501] })

/** A job with an integer id, without the fields of the option `jobFields`. */
export const Job = Type.Object({
  id,
  name: Type.String({ examples: ['Backend Engineer (Lyon)'] }),
  status: Type.String({ description: '`published` if people can apply; other values are defined by the vendor', examples: ['published'] })
}, { title: 'Job' })

/** Returns the schema of a job with ids of these kinds. */
export function jobOf ({ job }: IdKinds) {
  return Type.Object({ ...Job.properties, id: answeredId(job, id, textIdExamples.job) }, { title: 'Job' })
}

export const jobSortFields: readonly JobSortField[] = ['id', 'name', 'status', 'created_at', 'updated_at']

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

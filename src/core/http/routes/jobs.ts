import type { IdKinds, JobFilter, JobSortField } from '../../ports/index.js'
import { jobFilters } from '../../ports/lists.js'
import { Type } from '../../shared/typebox.js'
import { answeredId, textIdExamples } from '../schemas.js'
import type { RowList } from './rows.js'

const id = Type.Integer({ examples: [501] })

/** A job with an integer id, without the fields of the option `jobFields`. */
export const Job = Type.Object(
  {
    id,
    name: Type.String({ examples: ['Backend Engineer (Lyon)'] }),
    status: Type.String({
      description: '`published` if people can apply. The vendor defines all other values',
      examples: ['published']
    })
  },
  { title: 'Job' }
)

/** Returns the schema of a job with ids of these kinds. */
export function jobOf ({ job }: IdKinds) {
  return Type.Object({ ...Job.properties, id: answeredId(job, id, textIdExamples.job) }, { title: 'Job' })
}

/** The list of jobs. */
export const jobList: RowList<JobFilter, JobSortField> = {
  kind: 'job',
  sortable: ['id', 'name', 'status', 'created_at', 'updated_at'],
  filters: jobFilters
}

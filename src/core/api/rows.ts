import type { TSchema } from '@sinclair/typebox'
import type { CandidateFilter, CandidateSortField, IdKinds, JobFilter, JobSortField } from '../ports/index.js'
import { type RowFilter, type RowFilters, candidateFilters, jobFilters } from '../ports/lists.js'
import { type PagingQuery, pagingQuery } from '../shared/paging.js'
import { Nullable, Type } from '../shared/typebox.js'
import { operation } from './operation.js'
import { answeredId, requestedId, rowParams, Search, textIdExamples, UpdatedAfter } from './parameters.js'

const candidateId = Type.Integer({ examples: [1042] })
const sourceId = Type.Integer({ description: 'The source they came from', examples: [3] })

/** A candidate with integer ids, without the fields of the option `candidateFields`. */
export const Candidate = Type.Object({
  id: candidateId,
  full_name: Type.String({ examples: ['Ada Lovelace'] }),
  headline: Nullable(Type.String({ description: 'Their profession in one line', examples: ['Analyst, engines'] })),
  source_id: Nullable(sourceId)
}, { title: 'Candidate' })

/** Returns the schema of a candidate with ids of these kinds. */
export function candidateOf ({ candidate, source }: IdKinds) {
  return Type.Object({
    ...Candidate.properties,
    id: answeredId(candidate, candidateId, textIdExamples.candidate),
    source_id: Nullable(answeredId(source, sourceId, textIdExamples.source))
  }, { title: 'Candidate' })
}

const jobId = Type.Integer({ examples: [501] })

/** A job with an integer id, without the fields of the option `jobFields`. */
export const Job = Type.Object(
  {
    id: jobId,
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
  return Type.Object({ ...Job.properties, id: answeredId(job, jobId, textIdExamples.job) }, { title: 'Job' })
}

/** The list of candidates or of jobs. */
export interface RowList<Kind extends 'candidate' | 'job', Filter extends { q?: string }, SortField> {
  kind: Kind
  /** Fields to sort by. */
  sortable: readonly SortField[]
  filters: RowFilters<Filter>
}

/** The list of candidates. */
export const candidateList = {
  kind: 'candidate',
  sortable: ['id', 'full_name', 'created_at', 'updated_at'],
  filters: candidateFilters
} as const satisfies RowList<'candidate', CandidateFilter, CandidateSortField>

/** The list of jobs. */
export const jobList = {
  kind: 'job',
  sortable: ['id', 'name', 'status', 'created_at', 'updated_at'],
  filters: jobFilters
} as const satisfies RowList<'job', JobFilter, JobSortField>

function schemaOf (filter: RowFilter, ids: IdKinds): TSchema {
  switch (filter.test) {
    case 'id': {
      const { id, description, example } = filter
      const bounds = { minimum: 1, maximum: Number.MAX_SAFE_INTEGER }
      return requestedId(ids[id], Type.Integer({ ...bounds, description, examples: [example] }), textIdExamples[id])
    }
    case 'text': {
      const { description, example } = filter
      return Type.String({ minLength: 1, maxLength: 64, description, examples: [example] })
    }
    case 'contains': return Search
    case 'after': return UpdatedAfter
  }
}

/** Returns the parameter of a filter, such as `filter[recruiter_id]` for `recruiterId`. */
export function parameterOf (name: string): string {
  return `filter[${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}]`
}

type Snake<Name extends string> = Name extends `${infer Letter}${infer Rest}`
  ? `${Letter extends Lowercase<Letter> ? Letter : `_${Lowercase<Letter>}`}${Snake<Rest>}`
  : Name

/** The parameters of a filter's conditions. */
export type FilterParameters<Filter> = {
  [Name in keyof Filter & string as `filter[${Snake<Name>}]`]?: NonNullable<Filter[Name]>
}

/** Returns the operations that list candidates or jobs and read one. `item` is the schema of a row. */
export function rowOperations<
  Kind extends 'candidate' | 'job', Filter extends { q?: string }, Item extends TSchema
> ({ kind, sortable, filters }: RowList<Kind, Filter, string>, item: Item, ids: IdKinds) {
  const title = kind === 'candidate' ? 'Candidate' : 'Job'
  const parameters = Object.entries<RowFilter>(filters).map(([name, filter]) => {
    return [parameterOf(name), Type.Optional(schemaOf(filter, ids))]
  })
  return {
    list: operation({
      ...readingRows(kind),
      operationId: `list${title}s`,
      path: `/${kind}s`,
      summary: `List ${kind}s`,
      description: `Returns the ${kind}s that pass all filters, sorted by id unless \`sort\` is given.`,
      input: Type.Unsafe<PagingQuery & FilterParameters<Filter>>(Type.Object(
        { ...pagingQuery(sortable, 'id'), ...Object.fromEntries(parameters) }, { additionalProperties: false }
      )),
      item,
      shape: 'page',
      results: { 200: `A page of ${kind}s` }
    }),
    find: operation({
      ...readingRows(kind),
      operationId: `get${title}`,
      path: `/${kind}s/:id`,
      summary: `Get a ${kind}`,
      description: 'Returns the same fields as the list.',
      params: rowParams(kind, ids),
      item,
      shape: 'one',
      results: { 200: `The ${kind}` },
      resource: kind
    })
  }
}

/** The common part of operations that read candidates or jobs. */
export function readingRows (kind: 'candidate' | 'job') {
  return { method: 'GET', tag: `${kind}s`, scopes: [], anyScope: [`${kind}s:read`, `${kind}s:write`] } as const
}

import type { TObject, TSchema } from '@sinclair/typebox'
import type {
  CandidateFilter, CandidateSortField, FieldType, FieldUse, IdKinds, JobFilter, JobSortField, OwnFilter
} from '../ports/index.js'
import { type RowFilter, type RowFilters, candidateFilters, jobFilters } from '../ports/lists.js'
import { type PagingQuery, pagingQuery } from '../shared/paging.js'
import { assertOption } from '../shared/read-options.js'
import { Nullable, Type } from '../shared/typebox.js'
import { operation } from './operation.js'
import { answeredId, requestedId, rowParams, Search, textIdExamples } from './parameters.js'

const candidateId = Type.Integer({ examples: [1042] })
const sourceId = Type.Integer({ description: 'The source they came from', examples: [3] })

/** A candidate with integer ids, without the fields of the option `candidateFields`. */
export const Candidate = Type.Object({
  id: candidateId,
  full_name: Type.String({ examples: ['Ada Lovelace'] }),
  headline: Nullable(Type.String({ description: 'Their profession in one line', examples: ['Analyst, engines'] })),
  source_id: Nullable(sourceId)
}, { title: 'Candidate' })

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

export function jobOf ({ job }: IdKinds) {
  return Type.Object({ ...Job.properties, id: answeredId(job, jobId, textIdExamples.job) }, { title: 'Job' })
}

export interface RowList<Kind extends 'candidate' | 'job', Filter extends { q?: string }, SortField> {
  kind: Kind
  sortable: readonly SortField[]
  filters: RowFilters<Filter>
}

/** The fields that clients can filter or sort a list by, and what they can do with each. */
export type FieldUses = Readonly<Record<string, readonly FieldUse[]>>

export const candidateList = {
  kind: 'candidate',
  sortable: ['id', 'full_name', 'created_at', 'updated_at'],
  filters: candidateFilters
} as const satisfies RowList<'candidate', CandidateFilter, CandidateSortField>

export const jobList = {
  kind: 'job',
  sortable: ['id', 'name', 'status', 'created_at', 'updated_at'],
  filters: jobFilters
} as const satisfies RowList<'job', JobFilter, JobSortField>

function schemaOf (filter: RowFilter, ids: IdKinds): TSchema {
  if (filter.test === 'contains') return Search
  const { description, example } = filter
  const about = { description, examples: [example] }
  switch (filter.test) {
    case 'id': {
      const { id } = filter
      return requestedId(
        ids[id], Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, ...about }), textIdExamples[id]
      )
    }
    case 'text': return Type.String({ minLength: 1, maxLength: filter.maxLength ?? 64, ...about })
    case 'integer':
      return Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER, ...about })
    case 'boolean': return Type.Boolean(about)
    case 'time':
    case 'after': return Type.String({ format: 'date-time', ...about })
  }
}

/** Returns the parameter of a filter, such as `filter[recruiter_id]` for `recruiterId`. */
function parameterOf (name: string): string {
  return `filter[${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}]`
}

/** Returns the parameter of a field's later values, such as `filter[updated_after]` for `updated_at`. */
function afterParameterOf (field: string): string {
  return `filter[${field.replace(/_at$/, '')}_after]`
}

const examples: Record<FieldType, unknown> = {
  text: 'A-17', integer: 12, boolean: true, time: '2026-03-01T00:00:00Z'
}

/** A filter and its parameter. `name` is its name in the port; `null` for an own condition. */
interface FilterParameter {
  parameter: string
  name: string | null
  filter: RowFilter
}

export function listParameters (
  { kind, filters }: Pick<RowList<'candidate' | 'job', object, string>, 'kind' | 'filters'>, own: readonly OwnFilter[]
): FilterParameter[] {
  return [
    ...Object.entries<RowFilter>(filters).map(([name, filter]) => ({ parameter: parameterOf(name), name, filter })),
    ...own.flatMap(({ field, type, uses }) => uses.flatMap((use): FilterParameter[] => {
      if (use === 'sort') return []
      const isAfter = use === 'after'
      const about = isAfter ? `whose \`${field}\` is later than this time` : `with exactly this \`${field}\``
      return [{
        parameter: isAfter ? afterParameterOf(field) : `filter[${field}]`,
        name: null,
        filter: {
          test: isAfter ? use : type,
          field,
          description: `Only ${kind}s ${about}`,
          example: examples[type],
          maxLength: 255
        }
      }]
    }))
  ]
}

export function listSortable (
  { sortable }: Pick<RowList<'candidate' | 'job', object, string>, 'sortable'>, own: readonly OwnFilter[]
): string[] {
  return [...sortable, ...own.flatMap(({ field, uses }) => uses.includes('sort') ? [field] : [])]
}

/**
 * Returns the filters that the host declares: `uses` names fields of `fields`, the additional fields of a list.
 * `option` is the name of the option with `uses`. Throws `invalid_option`.
 */
export function readOwnFilters (
  list: RowList<'candidate' | 'job', object, string>, fields: TObject, uses: FieldUses, option: string
): OwnFilter[] {
  const own = Object.entries(uses).map(([field, uses]): OwnFilter => {
    const path = `${option}.${field}`
    const schema = Object.hasOwn(fields.properties, field) ? fields.properties[field] : undefined
    assertOption(
      schema !== undefined && namePattern.test(field), path,
      `a field of ${list.kind}Fields, whose name has only letters, digits and _`, field
    )
    const types = fieldTypesOf(schema)
    const [type = null, ...others] = types.filter((one) => one !== 'null')
    assertOption(
      type !== null && others.length === 0, path,
      'a field that is text, an integer, a boolean or a date-time', 'a field of another type'
    )
    assertOption(
      type === 'time' || !uses.includes('after'), path, "'after' only for a field with the format date-time", type
    )
    const isAlways = fields.required?.includes(field) === true && !types.includes('null')
    assertOption(
      isAlways || !uses.includes('sort'), path, "'sort' only for a field that is required and never null", field
    )
    assertOption(
      !list.sortable.includes(field) || !uses.includes('sort'), path, "no 'sort': the list has it already", field
    )
    return { field, type, uses }
  })
  const parameters = listParameters(list, own)
  for (const [index, { parameter, filter: { field } }] of parameters.entries()) {
    const isNew = parameters.findIndex((other) => other.parameter === parameter) === index
    assertOption(isNew, `${option}.${field}`, 'filters that the list does not have yet', parameter)
  }
  return own
}

/** Names that need no quotes in a parameter or in the pattern of `sort`. */
const namePattern = /^[a-z_]\w*$/i

/** Returns the types of a schema's values; `null` for a type that has no filter. */
function fieldTypesOf (schema: Partial<TSchema>): Array<FieldType | 'null' | null> {
  const { type, format, anyOf, enum: choices, const: only } = schema
  if (Array.isArray(anyOf)) return [...new Set(anyOf.flatMap(fieldTypesOf))]
  const values: unknown[] = only === undefined ? choices ?? [] : [only]
  const types: unknown[] = type === undefined ? values.map((value) => value === null ? 'null' : typeof value) : [type]
  return [...new Set(types.flat())].map((one) => {
    if (one === 'string') return format === 'date-time' ? 'time' : 'text'
    return one === 'integer' || one === 'boolean' || one === 'null' ? one : null
  })
}

type Snake<Name extends string> = Name extends `${infer Letter}${infer Rest}`
  ? `${Letter extends Lowercase<Letter> ? Letter : `_${Lowercase<Letter>}`}${Snake<Rest>}`
  : Name

export type FilterParameters<Filter> = {
  [Name in Exclude<keyof Filter & string, 'own'> as `filter[${Snake<Name>}]`]?: NonNullable<Filter[Name]>
}

/** Returns the operations that list candidates or jobs and read one. `item` is the schema of a row. */
export function rowOperations<
  Kind extends 'candidate' | 'job', Filter extends { q?: string }, Item extends TSchema
> (list: RowList<Kind, Filter, string>, item: Item, ids: IdKinds, own: readonly OwnFilter[]) {
  const { kind } = list
  const title = kind === 'candidate' ? 'Candidate' : 'Job'
  const parameters = listParameters(list, own).map(({ parameter, filter }) => {
    return [parameter, Type.Optional(schemaOf(filter, ids))]
  })
  return {
    list: operation({
      ...readingRows(kind),
      operationId: `list${title}s`,
      path: `/${kind}s`,
      summary: `List ${kind}s`,
      description: `Returns the ${kind}s that pass all filters, sorted by id unless \`sort\` is given.`,
      input: Type.Unsafe<PagingQuery & FilterParameters<Filter>>(Type.Object(
        { ...pagingQuery(listSortable(list, own), 'id'), ...Object.fromEntries(parameters) },
        { additionalProperties: false }
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

export function readingRows (kind: 'candidate' | 'job') {
  return { method: 'GET', tag: `${kind}s`, scopes: [], anyScope: [`${kind}s:read`, `${kind}s:write`] } as const
}

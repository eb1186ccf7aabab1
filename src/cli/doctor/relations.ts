import { isRecruitingApiError } from '../../errors.js'
import { type Relation, describeRelation } from '../../postgres/lists/relation.js'
import { assertColumns } from '../../postgres/lists/row-columns.js'
import { type RowKind, candidateKind, jobKind } from '../../postgres/lists/row-kind.js'
import type { Session } from '../../postgres/session.js'
import { describeError } from '../database.js'
import { type Check, type Finding, type Patient, advice, fault, ok, unknown } from './finding.js'
import { findSlowPages } from './slow-pages.js'

/** The host's relations, their columns and indexes. */
export const relations: Check = {
  name: 'relations',
  needsTables: false,
  run: async (patient) => (await Promise.all([candidateKind, jobKind].map((kind) => checkKind(patient, kind)))).flat()
}

async function checkKind (patient: Patient, kind: RowKind): Promise<Array<Omit<Finding, 'check'>>> {
  const { session, flags, quotedSchema } = patient
  const given = flags.text(kind.option)
  const name = given ?? `${quotedSchema}.${kind.option}`
  const relation = await findRelation(session, kind, name)
  if (relation === null) {
    return given === undefined
      ? [unknown(`there is no ${name}`, `name your own table or view: --${kind.option} public.api_${kind.option}`)]
      : [fault(`--${kind.option}: there is no table or view ${name} that the database user may see`, 'create it, or grant the right to read it')]
  }
  const columns = checkColumns(relation, kind)
  if (columns.length > 0) return columns
  const slow = await findSlowPages(patient.pool, relation)
  return [...slow, ...checkSearch(relation, kind), ...(slow.length === 0 ? [ok(`${relation.name} has its columns and indexes`)] : [])]
}

async function findRelation (session: Session, { option }: RowKind, name: string): Promise<Relation | null> {
  try {
    return await describeRelation(session, option, name)
  } catch (error) {
    if (isRecruitingApiError(error) && error.code === 'storage_not_ready') return null
    throw error
  }
}

/** Checks each column by itself, so that all faults are found at once. */
function checkColumns (relation: Relation, kind: RowKind): Array<Omit<Finding, 'check'>> {
  const { columns, ids, exact } = kind
  const none: RowKind = { ...kind, columns: {}, ids: {}, exact: [] }
  const parts: RowKind[] = [
    ...Object.entries(columns).map(([name, types]) => ({ ...none, columns: { [name]: types } })),
    ...Object.entries(ids).map(([name, id]) => ({ ...none, ids: { [name]: id } })),
    ...exact.map((name) => ({ ...none, exact: [name] }))
  ]
  const problems = new Set(parts.map((part) => findProblem(relation, part)))
  return [...problems].flatMap((problem) => problem === null ? [] : [fault(problem, `change the column in ${relation.name}`)])
}

function findProblem (relation: Relation, kind: RowKind): string | null {
  try {
    assertColumns(relation, kind, null)
    return null
  } catch (error) {
    return describeError(error)
  }
}

function checkSearch ({ name, columns }: Relation, { searched }: RowKind): Array<Omit<Finding, 'check'>> {
  if (columns.has('name_key')) return []
  return [advice(`${name} has no column name_key: filter[q] reads every row of the tenant`,
    `add a column name_key, generated as lower(${searched}), in an index (tenant_slug, id) include (name_key)`)]
}

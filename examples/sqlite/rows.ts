import type { CandidateFilter, CandidateSource, Id, JobFilter, JobSource } from 'fastify-recruiting-api'
import { type Kysely, type SqlBool, sql } from 'kysely'
import type { Schema } from './schema.js'

type Condition = ReturnType<typeof sql<SqlBool>>

/** Reads the vendor's candidates. A source has three methods. */
export function createCandidates (db: Kysely<Schema>): CandidateSource<Id, Id, Id> {
  return {
    async list (tenantSlug, { filter, sort, offset, limit, fields }) {
      const query = db.selectFrom('candidates').select(known(candidateColumns, fields)).where(candidateCondition(tenantSlug, filter))
      const ordered = sort.reduce((ordering, { field, direction }) => ordering.orderBy(field, direction), query)
      return ordered.limit(limit).offset(offset).$castTo<Schema['candidates']>().execute()
    },

    async count (tenantSlug, filter) {
      const row = await db.selectFrom('candidates').select(sql<number>`count(*)`.as('total'))
        .where(candidateCondition(tenantSlug, filter)).executeTakeFirstOrThrow()
      return row.total
    },

    async find (tenantSlug, id, { fields }) {
      const row = await db.selectFrom('candidates').select(known(candidateColumns, fields))
        .where('tenant_slug', '=', tenantSlug).where('id', '=', id).$castTo<Schema['candidates']>().executeTakeFirst()
      return row ?? null
    }
  }
}

/** Reads the vendor's jobs. */
export function createJobs (db: Kysely<Schema>): JobSource<Id> {
  return {
    async list (tenantSlug, { filter, sort, offset, limit, fields }) {
      const query = db.selectFrom('jobs').select(known(jobColumns, fields)).where(jobCondition(tenantSlug, filter))
      const ordered = sort.reduce((ordering, { field, direction }) => ordering.orderBy(field, direction), query)
      return ordered.limit(limit).offset(offset).$castTo<Schema['jobs']>().execute()
    },

    async count (tenantSlug, filter) {
      const row = await db.selectFrom('jobs').select(sql<number>`count(*)`.as('total'))
        .where(jobCondition(tenantSlug, filter)).executeTakeFirstOrThrow()
      return row.total
    },

    async find (tenantSlug, id, { fields }) {
      const row = await db.selectFrom('jobs').select(known(jobColumns, fields))
        .where('tenant_slug', '=', tenantSlug).where('id', '=', id).$castTo<Schema['jobs']>().executeTakeFirst()
      return row ?? null
    }
  }
}

const candidateColumns = ['id', 'full_name', 'headline', 'source_id', 'recruiter_id', 'created_at', 'updated_at'] as const
const jobColumns = ['id', 'name', 'status', 'created_at', 'updated_at'] as const

// The requested fields come from the options of the host. An unknown column would be an SQL error.
function known<Column extends string> (columns: readonly Column[], fields: readonly string[]): Column[] {
  return columns.filter((column) => fields.includes(column))
}

function candidateCondition (tenantSlug: string, { recruiterId, ...filter }: CandidateFilter<Id>): Condition {
  const conditions = rowConditions(tenantSlug, filter)
  if (recruiterId !== undefined) conditions.push(sql<SqlBool>`recruiter_id = ${recruiterId}`)
  return all(conditions)
}

function jobCondition (tenantSlug: string, { status, ...filter }: JobFilter): Condition {
  const conditions = rowConditions(tenantSlug, filter)
  if (status !== undefined) conditions.push(sql<SqlBool>`status = ${status}`)
  return all(conditions)
}

// `instr` has no wildcards, and `name_key` was made with the same toLowerCase.
function rowConditions (tenantSlug: string, { q, updatedAfter }: { q?: string, updatedAfter?: string }): Condition[] {
  const conditions = [sql<SqlBool>`tenant_slug = ${tenantSlug}`]
  if (q !== undefined) conditions.push(sql<SqlBool>`instr(name_key, ${q.toLowerCase()}) > 0`)
  if (updatedAfter !== undefined) conditions.push(sql<SqlBool>`updated_at > ${updatedAfter}`)
  return conditions
}

function all (conditions: readonly Condition[]): Condition {
  return sql<SqlBool>`${sql.join(conditions, sql` and `)}`
}

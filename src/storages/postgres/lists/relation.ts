import { RecruitingApiError } from '../../../core/shared/errors.js'
import type { Session } from '../session.js'

export interface Column {
  /** Its type, such as `bigint`; for a domain, its base type. */
  type: string
  /** Whether the collation treats only identical texts as equal. */
  isExact: boolean
  /** Whether it has the collation "C", which sorts text by code point. */
  isInC: boolean
}

/** The host's table or view, as the database describes it. */
export interface Relation {
  /** Quoted, with its schema. */
  name: string
  /** Whether it can have indexes: a table or a materialized view. */
  isIndexable: boolean
  columns: ReadonlyMap<string, Column>
  /** Definitions of its indexes, as `create index` statements. */
  indexes: readonly string[]
  /** How integers are selected: as `text`, unless `Number` can convert the host driver's `bigint` values. */
  integerType: 'bigint' | 'text'
  /** Quoted. Lower-cases letters of all scripts, if the database has such a collation. */
  caseCollation: string
}

interface RelationRow {
  name: string
  kind: string
  columns: string
  indexes: string
  /** A `bigint` as the driver returns it. */
  sample: unknown
  collation: string
}

// The first two have the rules of JavaScript's toLowerCase.
const caseCollations = ['und-x-icu', 'pg_unicode_fast', 'pg_c_utf8']

/** Describes the relation with an SQL name such as `public.api_candidates`. Throws `storage_not_ready`. */
export async function describeRelation (session: Session, option: string, sqlName: string): Promise<Relation> {
  const [row] = await session.query<RelationRow>(`describe ${option}`, text, [sqlName, caseCollations])
  if (row === undefined) {
    throw relationError(option, `there is no table or view ${sqlName} that the database user may see`)
  }
  return {
    name: row.name,
    isIndexable: ['r', 'p', 'm'].includes(row.kind),
    columns: new Map(Object.entries(JSON.parse(row.columns) as Record<string, Column>)),
    indexes: JSON.parse(row.indexes),
    integerType: Number(row.sample) === Number.MAX_SAFE_INTEGER ? 'bigint' : 'text',
    caseCollation: row.collation
  }
}

/** Creates a `storage_not_ready` error for the option that names the relation. */
export function relationError (option: string, problem: string): RecruitingApiError {
  return new RecruitingApiError('storage_not_ready', `${option}: ${problem}`, option)
}

const text = `
  select format('%I.%I', n.nspname, c.relname) as name, c.relkind::text as kind,
    (
      select coalesce(json_object_agg(a.attname, json_build_object(
        'type', format_type(coalesce(nullif(t.typbasetype, 0), t.oid), null),
        'isExact', coalesce(co.collisdeterministic, true),
        'isInC', coalesce(co.oid = 'pg_catalog."C"'::regcollation, false)
      )), '{}')::text
      from pg_attribute a
      join pg_type t on t.oid = a.atttypid
      left join pg_collation co on co.oid = a.attcollation
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    ) as columns,
    (
      select coalesce(json_agg(pg_get_indexdef(i.indexrelid)), '[]')::text
      from pg_index i where i.indrelid = c.oid and i.indisvalid and i.indpred is null
    ) as indexes,
    ${Number.MAX_SAFE_INTEGER}::bigint as sample,
    coalesce((
      select format('%I.%I', cn.nspname, co.collname)
      from pg_collation co
      join pg_namespace cn on cn.oid = co.collnamespace
      join pg_database d on d.datname = current_database()
      where co.collname = any ($2::text[]) and co.collencoding in (-1, d.encoding)
      order by array_position($2::text[], co.collname::text)
      limit 1
    ), 'pg_catalog."default"') as collation
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where c.oid = to_regclass($1)`

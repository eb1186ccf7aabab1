import t from 'tap'
import type { CandidateSortField, RowQuery } from '../../../../src/index.js'
import { postgresStorage } from '../../../../src/storages/postgres/index.js'
import { startPostgresHost } from '../../../fixtures/postgres/postgres.js'
import { watchPool } from '../../../fixtures/postgres/watched-pool.js'

const fields = ['id', 'full_name', 'headline', 'source_id']
const sort = [{ field: 'id', direction: 'asc' }] as const
const query: RowQuery<object, CandidateSortField> = { filter: {}, sort, offset: 0, limit: 25, fields }

/** The columns of candidates, with ids of this type, without indexes. */
const columns = (
  idType: string
) => `tenant_slug text not null, id ${idType} not null, full_name text not null, headline text,
  source_id ${idType}, recruiter_id ${idType}, created_at timestamptz not null default now(), updated_at timestamptz not null default now()`

t.test('pages use the id index for every type of id', async (t) => {
  const { pool } = await startPostgresHost(t)
  const asked: Array<[statement: string, values: unknown[]]> = []
  const noting = watchPool(pool, (text, values) => { asked.push([text, values]) })
  const explain = async (work: () => Promise<unknown>): Promise<string> => {
    asked.length = 0
    await work()
    const [[statement, values] = ['', []]] = asked.slice(-1)
    const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`explain ${statement}`, values)
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  }

  const idOf: Record<string, string> = {
    bigint: 'n::bigint', int: 'n', uuid: "lpad(to_hex(n), 32, '0')::uuid", text: "'id_' || n", 'text collate "en-x-icu"': "'id_' || n", 'varchar(64) collate "C"': "'id_' || n"
  }
  for (const [index, [idType, id]] of Object.entries(idOf).entries()) {
    const table = `many_${index}`
    const isOrdered = !/^text/.test(idType)
    await pool.query(`
      create table ${table} (${columns(idType)}, primary key (tenant_slug, id));
      insert into ${table} select 'acme', ${id}, 'Name', null, ${id}, ${id} from generate_series(1, 5000) as n;
      create index on ${table} (tenant_slug, recruiter_id);
      analyze ${table}`)
    const { candidates } = postgresStorage<string, string, string, string>(noting, { candidates: table })
    const [row] = await candidates.list('acme', { ...query, offset: 100, limit: 1 })
    if (row === undefined) return t.fail('there are rows')

    const found = await explain(() => candidates.find('acme', row.id, { fields }))
    t.match(found, new RegExp(`Index Scan using ${table}_pkey[^]*Index Cond:.*[( ]\\(?id\\)?(::text)? = `), `find by ${idType}`)
    const filtered = await explain(() => candidates.count('acme', { recruiterId: row.id }))
    t.match(filtered, /Index Cond:.*[( ]\(?recruiter_id\)?(::text)? = /, `filter by ${idType}`)
    if (!isOrdered) await pool.query(`create index on ${table} (tenant_slug, id collate "C")`)
    const page = await explain(() => candidates.list('acme', query))
    t.match(page, /Index Scan/, `page by ${idType}`)
    t.notMatch(page, 'Sort', `page by ${idType}`)
    const deep = await explain(() => candidates.list('acme', { ...query, offset: 1000 }))
    t.match(deep, /Limit[^]*Index (Only )?Scan/, `deep page by ${idType}`)
  }
})

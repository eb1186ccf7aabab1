import { readFile } from 'node:fs/promises'
import t from 'tap'
import { migrate } from '../../src/postgres/index.js'
import { startPostgres } from '../fixtures/postgres-server.js'

t.test('the statements of the operations page run', async (t) => {
  const page = await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8')
  const statements = [...page.matchAll(/^```sql\n(.*?)^```$/gms)].map(([, sql = '']) => sql)
  t.ok(statements.length > 0)
  const pool = (await startPostgres(t)).createPool()
  await migrate(pool)
  for (const sql of statements) await t.resolves(pool.query(sql))
})

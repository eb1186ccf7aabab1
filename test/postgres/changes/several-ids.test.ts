import t from 'tap'
import { watch } from '../../../src/postgres/index.js'
import { follow } from '../../fixtures/postgres/changes.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

t.test('a row may concern several candidates', async (t) => {
  const { pool, storage: { changes } } = await startPostgresHost(t)
  await pool.query(`
    create table owners (id int primary key, company text, name text, candidates int[], codes text);
    create table assigned (id bigint, owner_id int);
    insert into owners values (1, 'acme', 'Ada', '{5,6}', '7,8'), (2, 'acme', 'Grace', null, null);
    insert into assigned values (1, 1), (2, 1), (3, 2)`)
  const expressions: Array<[what: string, id: string, ofAda: string[], ofAll: string[]]> = [
    ['a query', '(select a.id from assigned a where a.owner_id = row.id)', ['1', '2'], ['1', '2', '3']],
    ['a query that begins with a comment', '-- theirs\n(select id from assigned where owner_id = row.id union select 9) -- and 9', ['1', '2', '9'], ['1', '2', '3', '9']],
    ['a query without parentheses', 'select a.id from assigned a where a.owner_id = row.id', ['1', '2'], ['1', '2', '3']],
    ['an array', 'row.candidates', ['5', '6'], ['5', '6']],
    ['an array of a query', 'array(select id from assigned where owner_id = row.id)', ['1', '2'], ['1', '2', '3']],
    ['a function that returns a set', "regexp_split_to_table(row.codes, ',')", ['7', '8'], ['7', '8']]
  ]
  for (const [what, id, ofAda, ofAll] of expressions) {
    t.test(`given by ${what}`, async (t) => {
      await watch(pool, 'owners', { kind: 'candidate', id, tenant: 'company' })
      const changed = async (statement: string) => {
        const start = await changes.begin('acme', 'candidate')
        await pool.query(statement)
        return [...new Set((await follow(changes, start)).ids)].toSorted()
      }
      t.strictSame(await changed("update owners set name = name || '.' where id = 1"), ofAda)
      t.strictSame(await changed("begin; truncate owners; insert into owners values (1, 'acme', 'Ada', '{5,6}', '7,8'), (2, 'acme', 'Grace', null, null); commit"), ofAll)
    })
  }

  t.test('a row that concerns none is written like any other', async (t) => {
    await watch(pool, 'owners', { kind: 'candidate', id: '(select a.id from assigned a where a.owner_id = row.id)', tenant: 'company' })
    await t.resolves(pool.query("insert into owners values (3, 'acme', 'Alan')"))
  })
})

import t from 'tap'
import { watch } from '../../../src/storages/postgres/index.js'
import { measureBuffers } from '../../fixtures/postgres/buffers.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

t.test('a sync page over a table partitioned by tenant reads few buffers of each partition', async (t) => {
  const { pool } = await startPostgresHost(t)
  const measured: number[] = []
  for (const count of [100, 400]) {
    await pool.query('drop table if exists people; delete from recruiting.watched_tables')
    await pool.query(`
      create table people (tenant text, id bigint, primary key (tenant, id)) partition by list (tenant);
      do $$
      begin
        for i in 1..${count} loop
          execute format('create table people_%s partition of people for values in (%L)', i, 'tenant_' || i);
        end loop;
      end $$`)
    await watch(pool, 'people', { kind: 'candidate', id: 'id::text', tenant: 'tenant' })
    const text = "select * from recruiting.change_bounds_v1('tenant_1', 'candidate', '1')"
    await measureBuffers(pool, text)
    measured.push(await measureBuffers(pool, text))
    const { rows } = await pool.query(`
      select cardinality(found) as found, found = parts as is_same, lost, added from recruiting.watched_tables_v1('candidate')`)
    t.same(rows, [{ found: 5 * (count + 1), is_same: true, lost: [], added: [] }])
  }
  const [few = 0, many = 0] = measured
  t.ok((many - few) / 300 < 6, `${few} buffers with 100 partitions, ${many} with 400`)
})

import t from 'tap'
import pg from 'pg'
import { migrate, postgresStorage } from '../../src/storages/postgres/index.js'
import { startPostgres } from '../fixtures/postgres/postgres-server.js'

t.test('migrate and verify reject a database with an encoding other than UTF-8', async (t) => {
  const server = await startPostgres(t)
  const name = `${server.name}_latin1`
  const admin = server.createPool()
  await admin.query(`create database ${name} encoding 'LATIN1' template template0 lc_collate 'C' lc_ctype 'C'`)
  const pool = new pg.Pool({ connectionString: server.url.replace(server.name, name) })
  const rejected = { code: 'storage_not_ready', field: 'pool', message: /^the database has the encoding LATIN1, / }
  await t.rejects(migrate(pool), rejected)
  await t.rejects(postgresStorage(pool).verify(null), rejected)
  await pool.end()
  await admin.query(`drop database ${name}`)
})

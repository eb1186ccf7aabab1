import t from 'tap'
import { readVersion, type Version } from '../../../src/storages/postgres/upgrade/version.js'
import { upgrade } from '../../../src/storages/postgres/upgrade/migrate.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

t.test('migrate warns which dump process it waits for, and times out', async (t) => {
  const { pool } = await startPostgresHost(t)
  const own = await readVersion()
  const withFile = (name: string, text: string): Version => ({
    ...own, migrations: new Map([...own.migrations, [name, text]])
  })
  const warnings: string[] = []
  const listen = ({ message }: Error) => { warnings.push(message) }
  process.on('warning', listen)
  t.teardown(() => process.off('warning', listen))
  const dump = await pool.connect()
  await dump.query(
    'set application_name to pg_dump; begin isolation level repeatable read; lock table recruiting.queue in access share mode'
  )
  const { rows: [{ pid }] } = await dump.query('select pg_backend_pid() as pid')
  for (const [file, limit] of [['900-column.sql', '0.6'], ['901-index-concurrently.sql', '6']] as const) {
    const text = file.startsWith('900')
      ? `alter table queue add column x int; insert into migrations (name) values ('${file}');`
      : `drop index concurrently if exists queue_x;\ncreate index concurrently queue_x on queue (created_at);\ninsert into migrations (name) values ('${file}');`
    warnings.length = 0
    const { message } = await upgrade(pool, 'recruiting', withFile(file, text), 600).then(
      () => ({ message: 'done' }),
      (error: Error) => error
    )
    t.match(message, new RegExp(`^migrate gave up after waiting \\d+ s for pid ${pid} \\(pg_dump, user `), file)
    t.match(
      warnings,
      [new RegExp(`^migrate waits for up to ${limit} s for pid ${pid} \\(pg_dump, user .*, in a transaction since 20`)],
      file
    )
  }
  await dump.query('rollback')
  dump.release()
})

import t from 'tap'
import { migrate } from '../../src/postgres/index.js'
import { createCli } from '../fixtures/cli/cli.js'
import { noPgBouncer, startPgBouncer } from '../fixtures/postgres/pgbouncer.js'
import { startPostgres } from '../fixtures/postgres/postgres-server.js'

t.test('doctor sees that LISTEN does not work through PgBouncer', { skip: noPgBouncer }, async (t) => {
  const server = await startPostgres(t)
  await migrate(server.createPool())
  const { options: { port } } = await startPgBouncer(t, server.url)
  const { code, out } = await createCli(`postgres://postgres@127.0.0.1:${port}/pooled`)('doctor --json --wait-seconds 0')
  const { findings } = JSON.parse(out) as { findings: Array<{ check: string, state: string }> }
  t.equal(code, 1)
  t.match(findings.find(({ check }) => check === 'listen'), { state: 'fault' })
})

import t from 'tap'
import { parseFlags } from '../../src/tools/cli/commands.js'
import { doctor, createReader, type NamedFinding, runChecks } from '../../src/tools/cli/doctor/doctor.js'
import { type Check, type DoctorContext, ok } from '../../src/tools/cli/doctor/finding.js'
import { createCli, startCliHost } from '../fixtures/cli/cli.js'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'

t.test("doctor reports what it could not check while the host's migration locks tables", async (t) => {
  const { pool, server } = await startPostgresHost(t)
  const client = await pool.connect()
  const { rows: [{ pid }] } = await client.query('select pg_backend_pid() as pid')
  await client.query("set application_name to 'host migration'; begin")
  await client.query('lock table recruiting.candidates, recruiting.webhooks in access exclusive mode')
  const { out } = await createCli(server.url)('doctor --json --wait-seconds 0 --max-lock-seconds 0')
  const { findings } = JSON.parse(out) as { findings: NamedFinding[] }
  await client.query('rollback')
  client.release()

  const find = (wanted: string) => findings.find(({ check }) => check === wanted)
  t.match(find('locks'), {
    state: 'fault',
    text: /^process \d+ \(postgres, host migration\) has locked candidates, webhooks since .*: lock table /,
    remedy: `end it with select pg_terminate_backend(${pid})`
  })
  t.match(find('relations'), {
    state: 'unknown', text: 'not checked, because it waited 1 s for a locked table: see the check locks'
  })
  t.match(find('secrets'), { state: 'unknown', text: /see the check locks$/ })
  t.match(findings.filter(({ check }) => check === 'schema'), [
    { state: 'unknown', text: 'the table webhooks was not compared, because a transaction has locked it' }
  ], 'the other tables were compared')
})

t.test('doctor finishes even if a check hangs', async (t) => {
  const { pool } = await startPostgresHost(t)
  const session = createReader(pool)
  const context: DoctorContext = {
    pool,
    session,
    query: (text, values) => session.query('check', text, values),
    schema: 'recruiting',
    quotedSchema: '"recruiting"',
    flags: parseFlags([], doctor).flags,
    secretKeys: [],
    now: Date.now
  }
  const check = (name: string, find: Check['find']): Check => ({ name, find })
  const endless = check('endless', () => new Promise(() => {}))
  const fine = check('fine', async () => [ok('fine')])
  const findings = await runChecks([endless, fine], context, () => {}, { checkMs: 1, totalMs: 10_000 })
  t.strictSame(findings, [
    {
      check: 'endless',
      state: 'unknown',
      text: 'not checked, because it took too long',
      remedy: 'run the command again when the server is less busy'
    },
    { check: 'fine', state: 'ok', text: 'fine', remedy: null }
  ])
})

t.test('a page that no index serves, and a kept lock of claims, are faults with their remedies', async (t) => {
  const { pool, cli } = await startCliHost(t)
  await pool.query(`create table bare (tenant_slug text, id bigint, name text, status text, created_at timestamptz,
    updated_at timestamptz, name_key text collate "C")`)
  const client = await pool.connect()
  await client.query("begin; select pg_advisory_xact_lock(hashtextextended('recruiting.claim', 0))")
  const { out } = await cli('doctor --json --wait-seconds 0 --jobs public.bare')
  await client.query('rollback')
  client.release()
  const findings: Array<{ check: string, text: string }> = JSON.parse(out).findings
  t.match(findings.filter(({ text }) => text.includes('bare')), [
    {
      state: 'fault',
      text: 'public.bare: every page reads all rows of the table bare, because no index serves it',
      remedy: 'create index on public.bare (tenant_slug, id)'
    },
    { state: 'fault', remedy: 'create index on public.bare (tenant_slug, updated_at, id)' }
  ])
  t.match(findings.filter(({ check }) => check === 'locks'), [
    { state: 'fault', text: /has kept the lock of claims for more than a second/, remedy: /^end it with select pg_terminate_backend/ }
  ])
})

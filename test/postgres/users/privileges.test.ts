import t from 'tap'
import { type NamedFinding, doctor } from '../../../src/cli/doctor/doctor.js'
import { privileges } from '../../../src/cli/doctor/server.js'
import { parseFlags } from '../../../src/cli/flags.js'
import { channelOf } from '../../../src/postgres/deliveries/due.js'
import { type Rights, listGrants, rights } from '../../../src/postgres/grants.js'
import { migrate, watch } from '../../../src/postgres/index.js'
import { createSession } from '../../../src/postgres/session.js'
import { createCli } from '../../fixtures/cli/cli.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'
import { resetStory, usePrivileges } from '../../fixtures/postgres/privilege-story.js'
import { grantFewest } from '../../fixtures/postgres/smallest-grants.js'

const lists = { candidates: 'host.people', jobs: 'host.positions' }
const options = `--candidates ${lists.candidates} --jobs ${lists.jobs}`

t.test('a role that owns nothing', async (t) => {
  const server = await startPostgres(t)
  const owner = server.createPool()
  await migrate(owner)
  const role = 'app-1'
  await owner.query(`
    create schema host;
    create table host.people (
      tenant_slug text, id bigint, full_name text, headline text, source_id bigint, recruiter_id bigint, created_at timestamptz, updated_at timestamptz);
    create table host.positions (tenant_slug text, id bigint, name text, status text, created_at timestamptz, updated_at timestamptz);
    revoke execute on all functions in schema recruiting from public;
    create user "${role}"`)
  await watch(owner, 'host.people', { kind: 'candidate', id: 'id', tenant: 'tenant_slug' })
  t.teardown(() => owner.query(`drop owned by "${role}"; drop user "${role}"`))
  const { rows: functions } = await owner.query<{ name: string }>(
    "select proname as name from pg_proc where pronamespace = 'recruiting'::regnamespace and prorettype <> 'trigger'::regtype")
  // As errors name their objects, as in `grant`, and as doctor names them.
  const ofRelations = (kind: string, privileges: Rights['tables']) => Object.entries(privileges).flatMap(([name, wanted]) => wanted.map((privilege) => (
    { object: `${kind} ${name}`, text: `${privilege} on ${kind} recruiting.${name}`, lacking: `${privilege} on ${name}` }
  )))
  const each = [
    ...ofRelations('table', rights.tables),
    ...ofRelations('sequence', rights.sequences),
    { object: 'schema recruiting', text: 'usage on schema recruiting', lacking: 'usage on the schema' },
    ...functions.map(({ name }) => ({ object: `function ${name}`, text: `execute on function recruiting.${name}`, lacking: `execute on ${name}` })),
    { object: 'schema host', text: 'usage on schema host', lacking: 'usage on the schema host, and cannot serve lists' },
    ...Object.values(lists).map((name) => ({ object: `table ${name.split('.')[1]}`, text: `select on ${name}`, lacking: `select on ${name}, and cannot serve lists` }))
  ]
  const pool = server.createPool({ user: role })
  const cli = createCli(server.url)
  const own = createCli(server.url.replace('postgres@', `${role}@`))

  async function findLacking (run = own, given = options): Promise<Array<[text: string, remedy: string | null]>> {
    const { findings } = JSON.parse((await run(`doctor --json --wait-seconds 0 ${given}`)).out) as { findings: NamedFinding[] }
    return findings.filter(({ check, state }) => check === 'privileges' && state !== 'ok').map(({ text, remedy }) => [text, remedy])
  }

  await t.test('has none, and doctor names all of them', async (t) => {
    const [[ours = '', remedy] = [], [onLists = ''] = []] = await findLacking()
    for (const [name, wanted] of Object.entries({ ...rights.tables, ...rights.sequences })) {
      for (const privilege of wanted) t.ok(ours.includes(`${privilege} on ${name}`), `${privilege} on ${name}`)
    }
    t.match(ours, /^app-1 lacks usage on the schema, /)
    t.match(ours, 'execute on claim_v1')
    t.equal(remedy, `as the owner of the schema and of your tables, run fastify-recruiting-api grants --schema recruiting --role 'app-1' ${options} --apply`)
    t.equal(onLists, 'app-1 lacks usage on the schema host, select on host.positions, select on host.people, and cannot serve lists')
    t.strictSame(await findLacking(own, '--no-lists'), [[ours, remedy?.replace(options, '--no-lists')]])
  })

  await t.test('needs each of them, and no others', async (t) => {
    const { step, left } = grantFewest(owner, `"${role}"`, each)
    await resetStory(owner)
    t.strictSame(await usePrivileges(pool, lists, step), [], 'every method of the storage was called')
    t.strictSame(left(), [])
    t.strictSame(await findLacking(), [])
    await owner.query(`drop owned by "${role}"`)
  })

  await t.test('gets them by command, once somebody agrees', async (t) => {
    const shown = await cli(`grants --role ${role} ${options}`)
    const host = [{ schema: 'host', name: 'people' }, { schema: 'host', name: 'positions' }]
    t.strictSame(shown, { code: 0, err: '', out: listGrants('recruiting', role, host).map((statement) => `${statement};\n`).join('') })
    t.match(await cli(`grants --role ${role} ${options} --apply`), { code: 2, err: /--yes: required/ })
    t.match(await findLacking(), [[/^app-1 lacks usage/], [/cannot serve lists$/]], 'nothing was granted')
    t.strictSame(await cli(`grants --role ${role} ${options} --apply`, { answers: ['y'] }), {
      code: 0,
      out: 'granted app-1 the privileges of servers and workers\n',
      err: 'Grants app-1 the privileges of servers and workers on the schema recruiting, host.people, host.positions.\nContinue? [y/N] '
    })
    t.strictSame(await findLacking(), [])
    await resetStory(owner)
    t.strictSame(await usePrivileges(pool, lists), [])
  })

  await t.test('cannot grant them to others, and nothing is half done', async (t) => {
    await owner.query(`create role "${role}-2"`)
    t.teardown(() => owner.query(`drop owned by "${role}-2"; drop role "${role}-2"`))
    t.match(await own(`grants --role ${role}-2 --no-lists --apply --yes`), {
      code: 1, err: /grants: app-1-2 still lacks usage on the schema, .*: run this as the owner of the schema and of your tables\n$/
    })
  })

  await t.test('or a relation that does not exist is refused', async (t) => {
    t.strictSame(await cli('grants --role nobody --no-lists'), { code: 1, out: '', err: 'grants: --role: there is no role nobody: create it first\n' })
    t.match(await cli(`grants --role ${role} --jobs positions`), {
      code: 1, err: /^grants: --candidates: there is no table or view recruiting\.candidates: name your own, --candidates public\.api_candidates, or add --no-lists/
    })
    t.match(await cli(`grants --role ${role} --no-lists --jobs positions`), { code: 2, err: 'grants: --no-lists: cannot be combined with --jobs\n' })
    t.match(await cli('grants'), { code: 2, err: 'grants: --role: missing, add --role NAME\n' })
    const { out } = await cli(`grants --role ${role} --no-lists --json`)
    t.match(JSON.parse(out), { role, applied: false, statements: listGrants('recruiting', role) })
  })

  await t.test('learns from doctor which one was taken away', async (t) => {
    const { flags } = parseFlags(options.split(' '), doctor)
    const patient = {
      pool, flags, session: createSession(pool, 5000), schema: 'recruiting', quotedSchema: '"recruiting"', secretKeys: [], now: Date.now
    }
    for (const { text, lacking } of each) {
      await owner.query(`revoke ${text} from "${role}"`)
      t.match(await privileges.run(patient), [{ state: 'fault', text: `app-1 lacks ${lacking}` }], text)
      await owner.query(`grant ${text} to "${role}"`)
    }
    t.strictSame(await findLacking(), [])
  })

  await t.test('is found by doctor as the user of a worker', async (t) => {
    const client = await pool.connect()
    await client.query(`listen "${channelOf('recruiting')}"`)
    await owner.query(`revoke select on recruiting.queue, host.people from "${role}"`)
    t.match(await findLacking(cli), [['app-1 lacks select on queue'], ['app-1 lacks select on host.people, and cannot serve lists']])
    await owner.query(`grant select on recruiting.queue to "${role}"`)
    const { out } = await cli(`doctor --json ${options}`)
    t.match((JSON.parse(out) as { findings: NamedFinding[] }).findings.filter(({ check }) => check === 'privileges'), [
      { state: 'ok', text: 'postgres has all privileges that servers and workers need' }, { state: 'advice' }
    ], 'a process that only delivers does not read lists')
    client.release(true)
    t.strictSame(await findLacking(cli), [])
  })
})

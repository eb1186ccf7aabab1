import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { realpathSync, rmSync, symlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { apiKeys } from '../../../src/storages/postgres/index.js'
import { upgrade } from '../../../src/storages/postgres/upgrade/migrate.js'
import { createCli } from '../../fixtures/cli/cli.js'
import { readNextVersion } from '../../fixtures/postgres/next-version/next-version.js'
import { startPostgresServer } from '../../fixtures/postgres/postgres-server.js'
import { request } from '../../fixtures/examples/request.js'
import { runExample } from '../../fixtures/examples/run-example.js'

const root = new URL('../../../', import.meta.url)

t.test('the ATS passes its own tests', async (t) => {
  const example = runExample(t, 'ats/test/ats.test.ts')
  const [, passed, failed] = await example.output(/pass (\d+)\n.*fail (\d+)/s)
  t.same([passed, failed], ['11', '0'])
  t.equal(await example.exit(), 0)
})

/** Returns the findings of `doctor` that are not ok. */
async function findFaults (url: string, env: Record<string, string> = {}): Promise<unknown> {
  const { out, err } = await createCli(url, { env: { DATABASE_URL: url, ...env } })('doctor --json')
  t.equal(err, '')
  return JSON.parse(out).findings.filter(({ state }: { state: string }) => state !== 'ok')
}

t.test('the examples run one after another on the same database, and doctor finds no fault', async (t) => {
  const { url, createPool } = await startPostgresServer(t, { settings: ['fsync=off'] })
  const keys = Buffer.alloc(32, 1).toString('base64')
  const env = { PORT: '0', DATABASE_URL: url, RECRUITING_SECRET_KEYS: keys, PORTAL_SECRET_KEYS: keys }
  for (const file of ['10-postgres.ts', '11-own-routes.ts', '10-postgres.ts']) {
    const example = runExample(t, file, env)
    const [, origin = '', key = ''] = await example.output(/curl (http:\S+?)\/api\S+ -H 'Authorization: Bearer (rk_[\w-]+)'/)
    t.match(await request(`${origin}/api/v1/public/acme/candidates?filter[q]=ada`, { key }), { status: 200, body: { data: [{ full_name: 'Ada Lovelace' }] } }, file)
    t.strictSame(await findFaults(url), [], file)
    t.equal(await example.end('SIGTERM'), 0, file)
  }
  const { rows } = await createPool().query('select count(*)::int as total from candidates')
  t.match(rows, [{ total: 2 }])
})

t.test('in production, only a command migrates, an old ATS works on newer tables, and no one is signed in', async (t) => {
  const { url, createPool } = await startPostgresServer(t, { settings: ['fsync=off'] })
  const keys = Buffer.alloc(32, 1).toString('base64')
  const env = {
    NODE_ENV: 'production', PORT: '0', DATABASE_URL: url, RECRUITING_SECRET_KEYS: keys, PORTAL_SECRET_KEYS: keys
  }
  const early = runExample(t, 'ats/src/server.ts', env)
  await early.output(/call migrate/)
  t.equal(await early.exit(), 1)
  t.equal(await runExample(t, 'ats/src/migrate.ts', env).exit(), 0)

  const pool = createPool()
  await pool.query(`
    insert into companies (slug) values ('acme');
    insert into candidates (company_id, name) values (1, 'Ada')`)
  const { key } = await apiKeys(pool, { tenantSlug: () => 'acme' }).issue({ tenantId: 1, scopes: ['candidates:read'] })
  const start = async () => {
    const ats = runExample(t, 'ats/src/server.ts', env)
    const [, origin = ''] = await ats.output(/Server listening at (http:[^"\s]+)/)
    t.match(await request(`${origin}/settings/webhooks`), { status: 401 })
    const response = await request(`${origin}/api/v1/public/acme/candidates`, { key })
    t.match(response, { status: 200, body: { data: [{ full_name: 'Ada' }] } })
    return ats
  }
  const running = await start()
  await upgrade(pool, 'recruiting', await readNextVersion())
  await pool.query(`
    alter table candidates add phone text;
    create or replace view recruiting.candidates as
      select company_id as tenant_id, id, name as full_name, title as headline, source_id, recruiter_id,
        created_at, updated_at, name_key, phone
      from candidates`)
  const restarted = await start()
  t.strictSame([await running.end('SIGTERM'), await restarted.end('SIGTERM')], [0, 0])
})

t.test('the ATS stores everything by company id, so that a slug can change', async (t) => {
  const { url, createPool } = await startPostgresServer(t, { settings: ['fsync=off'] })
  const keys = Buffer.alloc(32, 1).toString('base64')
  const env = { PORT: '0', DATABASE_URL: url, RECRUITING_SECRET_KEYS: keys, PORTAL_SECRET_KEYS: keys }
  const file = 'ats/src/server.ts'
  const example = runExample(t, file, { ...env, DEVELOPER_SIGN_IN: 'yes' })
  const [, origin = '', key = ''] = await example.output(/curl (http:\S+?)\/api\S+ -H 'Authorization: Bearer (rk_[\w-]+)'/)
  const api = `${origin}/api/v1/public`
  t.match(await request(`${api}/acme/candidates?filter[q]=ada`, { key }), { status: 200, body: { data: [{ full_name: 'Ada Lovelace' }] } })
  t.strictSame(await findFaults(url), [])
  const second = runExample(t, file, { ...env, DEVELOPER_SIGN_IN: 'yes', PORT: new URL(origin).port })
  await second.output(/EADDRINUSE.* Set PORT to choose another one\.\n/)
  t.equal(await second.exit(), 1, 'a port that is in use')

  const pool = createPool()
  const { rows: [company] } = await pool.query("update companies set slug = 'acme-corp' returning id::text")
  t.match(await request(`${api}/acme-corp/applications`, { key }), { status: 200, body: { meta: { total: 5 } } })
  t.match(await request(`${api}/acme/applications`, { key }), { status: 401 })
  const { rows: issued } = await pool.query("select distinct tenant, tenant_slug, allowed_ips from recruiting.api_keys where name = 'npm start'")
  t.strictSame(issued, [{ tenant: company.id, tenant_slug: 'acme', allowed_ips: ['127.0.0.0/8', '::1/128'] }])
  t.equal(await example.end('SIGTERM'), 0)
})

function isListening (port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false)).once('connect', () => socket.destroy())
  })
}

/** Creates an ATS with `init`, with its dependencies installed. */
async function writeAts (t: Test): Promise<{ folder: string, variables: Record<string, string> }> {
  const folder = `${t.testdir({})}/my ats`
  t.match(await createCli(undefined)(['init', folder]), { code: 0 })
  symlinkSync(fileURLToPath(new URL('node_modules', root)), `${folder}/node_modules`)
  const lines = (await readFile(`${folder}/.env`, 'utf8')).matchAll(/^(\w+)=(.*)$/gm)
  return { folder, variables: Object.fromEntries([...lines].map(([, name, value]) => [name, value])) }
}

t.test('an ATS created by init starts and stops with its own PostgreSQL', async (t) => {
  const { folder, variables } = await writeAts(t)
  const { DATABASE_URL: url = '', POSTGRES_PORT: port } = variables
  for (const run of ['first', 'second']) {
    // Like its `npm start`. The project's tsconfig.json maps the package name to `src/`.
    const child = spawn(process.execPath, ['--env-file=.env', '--import', 'tsx', 'src/server.ts'], {
      cwd: folder,
      env: { PATH: process.env.PATH, PORT: '0', TSX_TSCONFIG_PATH: fileURLToPath(new URL('tsconfig.json', root)) },
      stdio: ['ignore', 'pipe', 'inherit']
    })
    const exited = once(child, 'exit')
    t.teardown(() => child.kill('SIGKILL'))
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (chunk) => { output += chunk })
    while (child.exitCode === null && !output.includes('doctor')) await Promise.race([once(child.stdout, 'data'), exited])
    const [, origin = ''] = /^Server +(\S+)$/m.exec(output) ?? []
    const [, key = ''] = /(rk_[\w-]+)/.exec(output) ?? []
    const [, hire = ''] = /curl -X POST (\S+)/.exec(output) ?? []
    t.match(await request(hire, { key, method: 'POST' }), { status: 200, body: { data: { id: run === 'first' ? 1 : 2, stage: 'hired' } } }, run)
    const { status, body } = await request(`${origin}/settings/webhooks/session`, { method: 'POST' })
    t.match({ status, body }, { status: 200, body: { url: '/api/v1/public/portal/' } })
    t.strictSame(await findFaults(url, variables), [], run)
    child.kill('SIGINT')
    t.strictSame(await exited, [0, null])
    t.equal(await isListening(Number(port)), false, 'the database stopped too')
  }
  rmSync(realpathSync(`${folder}/.postgres`), { recursive: true })
})

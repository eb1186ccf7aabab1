import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { build } from 'esbuild'
import t from 'tap'
import { buildApp, keys } from '../../fixtures/api/app.js'
import { compiled, root } from '../../fixtures/program.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'

function startProcess (
  args: readonly string[], env: Record<string, string>, cwd = root, program = compiled('src/tools/cli/bin.ts')
): ChildProcessByStdio<null, Readable, Readable> {
  return spawn(process.execPath, [program, ...args], {
    cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe']
  })
}

async function runProcess (
  ...given: Parameters<typeof startProcess>
): Promise<{ code: number | null, out: string, err: string }> {
  const child = startProcess(...given)
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { code, out, err }
}

t.test('the program reads its arguments and the environment, and returns an exit code', async (t) => {
  const { url } = await startPostgres(t)
  const [migrated, found, rejected, wrong] = await Promise.all([
    runProcess(['migrate', '--schema', 'mine'], { DATABASE_URL: url }),
    runProcess(['doctor', '--schema', 'none', '--database-url', url], { DATABASE_URL: 'postgres://127.0.0.1:1/' }),
    runProcess(['prune', '--retention-days', '1', '--schema', 'none'], { DATABASE_URL: url }),
    runProcess(['prune'], {})
  ])
  t.strictSame([migrated.code, migrated.err], [0, ''])
  t.match(migrated.out, 'ran 001-tables.sql\n')
  t.strictSame([found.code, found.err], [1, ''])
  t.strictSame([rejected.code, rejected.out], [1, ''])
  t.strictSame(wrong, { code: 2, out: '', err: 'prune: --retention-days: missing, add --retention-days DAYS\n' })
})

t.test("the current folder's .env can contain the database URL", async (t) => {
  const folder = t.testdir({ '.env': 'DATABASE_URL=postgres://ada:own@127.0.0.1:1/\n', folder: { '.env': {} } })
  const [read, overridden, without] = await Promise.all([
    runProcess(['stats'], {}, folder),
    runProcess(['stats'], { DATABASE_URL: 'theirs', RECRUITING_DATABASE_URL: '' }, folder),
    runProcess(['stats'], {}, `${folder}/folder`)
  ])
  t.match(read, { code: 1, err: /^using the database URL of .*\/\.env\nstats: .*ECONNREFUSED/ })
  t.match(overridden, { code: 2, err: /^stats: DATABASE_URL: expected a URL/ })
  t.match(without, { code: 2, err: /^stats: --database-url: missing/ })
})

t.test("commands that use the package's files show their help even in a bundle", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'bundle-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const outfile = join(folder, 'bin.mjs')
  await build({ entryPoints: [compiled('src/tools/cli/bin.ts')], outfile, bundle: true, platform: 'node', format: 'esm' })
  for (const name of ['demo', 'init']) {
    const { code, err } = await runProcess([name, '--help'], {}, folder, outfile)
    t.same([code, err], [0, ''], name)
  }
})

t.test('Ctrl-C stops listen with exit code 0', async (t) => {
  const app = await buildApp(t, { server: { forceCloseConnections: true } })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const child = startProcess(['listen'], { RECRUITING_URL: `${origin}/api/v1/public/acme`, RECRUITING_API_KEY: keys.full })
  const ended = once(child, 'exit')
  const [shown] = await once(child.stderr, 'data')
  t.equal(String(shown), 'listening for events of acme; press Ctrl-C to stop\n')
  child.kill('SIGINT')
  t.strictSame(await ended, [0, null])
})

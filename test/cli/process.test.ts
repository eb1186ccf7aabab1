import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createIo } from '../../src/cli/io.js'
import { startPostgres } from '../fixtures/postgres/postgres-server.js'

const root = fileURLToPath(new URL('../../', import.meta.url))

async function runProcess (args: readonly string[], env: Record<string, string>): Promise<{ code: number | null, out: string, err: string }> {
  const child = spawn(process.execPath, ['--import', './test/fixtures/loader/register.js', 'src/cli/bin.ts', ...args], {
    cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe']
  })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { code, out, err }
}

t.test('the program reads its arguments and the environment, and ends with an exit code', async (t) => {
  const { url } = await startPostgres(t)
  const [migrated, found, refused, wrong] = await Promise.all([
    runProcess(['migrate', '--schema', 'mine'], { DATABASE_URL: url }),
    runProcess(['doctor', '--schema', 'none', '--database-url', url], { DATABASE_URL: 'postgres://127.0.0.1:1/' }),
    runProcess(['prune', '--retention-days', '1', '--schema', 'none'], { DATABASE_URL: url }),
    runProcess(['prune'], {})
  ])
  t.strictSame([migrated.code, migrated.err], [0, ''])
  t.match(migrated.out, 'ran 001-tables.sql\n')
  t.strictSame([found.code, found.err], [1, ''])
  t.strictSame([refused.code, refused.out], [1, ''])
  t.strictSame(wrong, { code: 2, out: '', err: 'prune: --retention-days: missing, add --retention-days DAYS\n' })
})

/** Streams of a process, whose terminals are those that are named. */
function createStreams (...terminals: string[]) {
  const stream = (name: string): PassThrough & { isTTY?: boolean } => Object.assign(new PassThrough(), terminals.includes(name) ? { isTTY: true } : {})
  return { env: {}, stdin: stream('stdin'), stdout: stream('stdout'), stderr: stream('stderr') }
}

t.test('a question is asked on the terminal, beside the result', async (t) => {
  const streams = createStreams('stdin', 'stdout', 'stderr')
  const io = createIo(streams)
  t.strictSame([io.showsResults, io.showsProgress], [true, true])
  io.out('result')
  io.err('error ')
  const answer = io.ask?.('Continue? ')
  streams.stdin.write('yes\n')
  t.equal(await answer, 'yes')
  t.equal(String(streams.stdout.read()), 'result')
  t.match(String(streams.stderr.read()), /^error .*Continue\? /)
})

t.test('a question that is left is answered with nothing', async (t) => {
  const streams = createStreams('stdin', 'stderr')
  const answer = createIo(streams).ask?.('Continue? ')
  streams.stdin.end()
  t.equal(await answer, '')
})

t.test('without a terminal nobody is asked', async (t) => {
  for (const terminals of [[], ['stdin', 'stdout'], ['stdout', 'stderr']]) t.equal(createIo(createStreams(...terminals)).ask, null)
  const { showsResults, showsProgress, now } = createIo(createStreams())
  t.strictSame([showsResults, showsProgress], [false, false])
  t.ok(Math.abs(now() - Date.now()) < 1000)
})

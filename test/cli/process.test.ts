import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { PassThrough, type Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createIo } from '../../src/cli/terminal.js'
import { buildApp, keys } from '../fixtures/api/app.js'
import { startPostgres } from '../fixtures/postgres/postgres-server.js'

const root = fileURLToPath(new URL('../../', import.meta.url))

function startProcess (args: readonly string[], env: Record<string, string>, cwd = root): ChildProcessByStdio<null, Readable, Readable> {
  return spawn(process.execPath, ['--import', `${root}test/fixtures/loader/register.js`, `${root}src/cli/bin.ts`, ...args], {
    cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe']
  })
}

async function runProcess (args: readonly string[], env: Record<string, string>, cwd = root): Promise<{ code: number | null, out: string, err: string }> {
  const child = startProcess(args, env, cwd)
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

t.test('the file .env of the current folder sets variables that the environment lacks', async (t) => {
  const folder = t.testdir({ '.env': 'DATABASE_URL=postgres://127.0.0.1:1/\n', folder: { '.env': {} } })
  const [read, overridden, without] = await Promise.all([
    runProcess(['stats'], {}, folder),
    runProcess(['stats'], { DATABASE_URL: 'theirs', RECRUITING_DATABASE_URL: '' }, folder),
    runProcess(['stats'], {}, `${folder}/folder`)
  ])
  t.match(read, { code: 1, err: /^stats: .*ECONNREFUSED/ })
  t.match(overridden, { code: 2, err: /^stats: DATABASE_URL: expected a URL/ })
  t.match(without, { code: 2, err: /^stats: --database-url: missing/ })
})

t.test('a command that listens ends with Ctrl-C, and that is no error', async (t) => {
  const app = await buildApp(t, { server: { forceCloseConnections: true } })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const child = startProcess(['listen'], { RECRUITING_URL: `${origin}/api/v1/public/acme`, RECRUITING_API_KEY: keys.full })
  const ended = once(child, 'exit')
  const [shown] = await once(child.stderr, 'data')
  t.equal(String(shown), 'listening for events of acme; press Ctrl-C to stop\n')
  child.kill('SIGINT')
  t.strictSame(await ended, [0, null])
})

/** Streams of a process, whose terminals are those that are named. */
function createStreams (...terminals: string[]) {
  const stream = (name: string): PassThrough & { isTTY?: boolean } => Object.assign(new PassThrough(), terminals.includes(name) ? { isTTY: true } : {})
  const streams = { env: {}, stdin: stream('stdin'), stdout: stream('stdout'), stderr: stream('stderr') }
  return Object.assign(new EventEmitter(), streams)
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

t.test('a task is interrupted if nobody reads its output any more', async (t) => {
  const process = createStreams()
  const io = createIo(process)
  const work = io.untilInterrupted((interruption) => io.sleep(60_000, interruption))
  process.stdout.emit('error', new Error('write EPIPE'))
  await work
  t.doesNotThrow(() => process.stdout.emit('error', new Error('write EPIPE')), 'nor does a later write end the process')
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

t.test('a task is interrupted by SIGINT and SIGTERM, also by two of them, and the process is then as before', async (t) => {
  for (const signal of ['SIGINT', 'SIGTERM']) {
    const process = createStreams()
    const io = createIo(process)
    const work = io.untilInterrupted(async (interruption) => {
      await io.sleep(60_000, interruption)
      return 'ended'
    })
    process.emit(signal)
    process.emit(signal)
    t.equal(await work, 'ended')
    t.strictSame(process.eventNames(), [])
  }
})

t.test('a task that ends or fails is left alone, and a sleep ends by itself', async (t) => {
  const process = createStreams()
  const io = createIo(process)
  t.equal(await io.untilInterrupted(async (signal) => {
    await io.sleep(1, signal)
    return signal.aborted
  }), false)
  await t.rejects(io.untilInterrupted(async () => { throw new Error('broken') }), { message: 'broken' })
  t.strictSame(process.eventNames(), [])
})

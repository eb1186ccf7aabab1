import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { commands } from '../../src/tools/cli/commands.js'
import { createIo } from '../../src/tools/cli/terminal.js'
import { parseFlags } from '../../src/tools/cli/commands.js'
import { createCli } from '../fixtures/cli/cli.js'

const cli = createCli('postgres://postgres@127.0.0.1:1/nowhere')

t.test('without arguments, and with --help, every command is listed', async (t) => {
  const none = await cli('')
  t.strictSame([none.code, none.out], [2, ''])
  for (const line of ['--help', 'help']) {
    const { code, out, err } = await cli(line)
    t.strictSame([code, err, out], [0, '', none.err])
    for (const [name, { about }] of Object.entries(commands)) t.match(out, new RegExp(`^  ${name} +${about}$`, 'm'))
  }
})

t.test('--help of each command shows its options, without a database', async (t) => {
  for (const name of Object.keys(commands)) {
    const { code, out, err } = await createCli(undefined)(`${name} --help`)
    t.strictSame([code, err], [0, ''], name)
    t.match(out, `usage: fastify-recruiting-api ${name} `)
    t.match(out, /^ {2}--help +shows this help$/m)
    if (['demo', 'init', 'listen', 'trigger'].includes(name)) continue
    t.match(out, /^ {2}--database-url URL +the database; or set RECRUITING_DATABASE_URL or DATABASE_URL$/m)
  }
  t.match((await cli('keys issue --help')).out, 'usage: fastify-recruiting-api keys issue --tenant ID --scopes A,B [OPTIONS]\n')
  t.match((await cli('keys revoke --help')).out, 'usage: fastify-recruiting-api keys revoke ID --tenant ID [OPTIONS]\n')
})

t.test('--version prints the version of the package', async (t) => {
  t.strictSame(await cli('--version'), { code: 0, out: `${process.env['npm_package_version'] ?? '0.1.0'}\n`, err: '' })
})

const wrong: Array<[line: string, message: string]> = [
  ['migrat', 'fastify-recruiting-api: "migrat": unknown command, did you mean migrate?'],
  ['frobnicate', 'fastify-recruiting-api: "frobnicate": unknown command; --help lists all of them'],
  ['toString', 'fastify-recruiting-api: "toString": unknown command; --help lists all of them'],
  ['demo now', 'demo: "now": unexpected argument'],
  ['keys', 'fastify-recruiting-api: keys: add one of issue, import, list, rotate, revoke'],
  ['keys list', 'keys list: --tenant: missing, add --tenant ID'],
  ['keys list --tenant', 'keys list: --tenant: needs a value, --tenant ID'],
  ['keys list --tenant a --tenant b', 'keys list: --tenant: given twice'],
  ['keys list --tenat a', 'keys list: --tenat: unknown option, did you mean --tenant?'],
  ['keys list --tenant a --json=yes', 'keys list: --json: takes no value'],
  ['keys revoke', 'keys revoke: ID: missing, usage: fastify-recruiting-api keys revoke ID --tenant ID [OPTIONS]'],
  ['reseal', 'reseal: --secret-keys: missing, add --secret-keys FILE or set RECRUITING_SECRET_KEYS']
]

for (const [line, message] of wrong) {
  t.test(`${line}: wrong usage prints one line that names the argument, with exit code 2`, async (t) => {
    t.strictSame(await cli(line), { code: 2, out: '', err: `${message}\n` })
  })
}

t.test('a database URL is required', async (t) => {
  const message = 'stats: --database-url: missing, and DATABASE_URL is not set; add --database-url postgres://user@host/database\n'
  t.strictSame(await createCli(undefined)('stats'), { code: 2, out: '', err: message })
  t.strictSame(await createCli('')('stats'), { code: 2, out: '', err: message })
  for (const url of ['http://user:geheim@host/', 'postgres://user:geheim@[x', 'localhost']) {
    const { code, err } = await cli(['stats', '--database-url', url])
    t.strictSame([code, err], [2, 'stats: --database-url: expected a URL such as postgres://user@host/database\n'], url)
  }
  t.match((await cli(['stats', '--database-url', '/nowhere ats'])).err, 'cannot connect to the database: connect ENOENT /nowhere/')
})

t.test('an unreachable database is reported in one line, without the password', async (t) => {
  for (const url of ['postgres://ada:geheim@127.0.0.1:1/none', 'postgres://ada:geheim@localhost:1/none']) {
    for (const line of ['stats', 'doctor', 'migrate', 'keys list --tenant acme']) {
      const { code, out, err } = await createCli(url)(line)
      t.strictSame([code, out], [1, ''], line)
      t.match(err, /^[a-z ]+: cannot connect to the database: connect ECONNREFUSED \S+:1; check the database URL\n$/)
    }
  }
})

t.test('without the package pg, the error says how to install it', async (t) => {
  const importDriver = async (): Promise<never> => {
    throw Object.assign(new Error("Cannot find package 'pg' imported from /app/bin.js"), { code: 'ERR_MODULE_NOT_FOUND' })
  }
  t.strictSame(await cli('stats', { importDriver }), { code: 1, out: '', err: 'stats: the package pg is not installed: run npm install pg\n' })
  const broken = await cli('stats', { importDriver: async () => { throw new SyntaxError('Unexpected token') } })
  t.strictSame(broken, { code: 1, out: '', err: 'stats: Unexpected token\n' })
})

/** A process's streams. The named ones are terminals. */
function createStreams (...terminals: string[]) {
  const stream = (name: string): PassThrough & { isTTY?: boolean } =>
    Object.assign(new PassThrough(), terminals.includes(name) ? { isTTY: true } : {})
  const streams = { env: {}, stdin: stream('stdin'), stdout: stream('stdout'), stderr: stream('stderr') }
  return Object.assign(new EventEmitter(), streams)
}

t.test('questions go to the terminal, separately from the result', async (t) => {
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

t.test('a task is interrupted when the reader of its output goes away', async (t) => {
  const process = createStreams()
  const io = createIo(process)
  const work = io.untilInterrupted((interruption) => io.sleep(60_000, interruption))
  process.stdout.emit('error', new Error('write EPIPE'))
  await work
  t.doesNotThrow(() => process.stdout.emit('error', new Error('write EPIPE')), 'a later write does not end the process either')
})

t.test('without a terminal there are no questions', async (t) => {
  for (const terminals of [[], ['stdin', 'stdout'], ['stdout', 'stderr']]) t.equal(createIo(createStreams(...terminals)).ask, null)
  const { showsResults, showsProgress, now } = createIo(createStreams())
  t.strictSame([showsResults, showsProgress], [false, false])
  t.ok(Math.abs(now() - Date.now()) < 1000)
})

t.test('SIGINT and SIGTERM, once or twice, interrupt a task, and its listeners are removed afterwards', async (t) => {
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

t.test('a task that succeeds or fails is not interrupted, and its sleep ends', async (t) => {
  const process = createStreams()
  const io = createIo(process)
  t.equal(await io.untilInterrupted(async (signal) => {
    await io.sleep(1, signal)
    return signal.aborted
  }), false)
  await t.rejects(io.untilInterrupted(async () => { throw new Error('broken') }), { message: 'broken' })
  t.strictSame(process.eventNames(), [])
})

const pages = await Promise.all(
  [
    'README.md', 'docs/commands.md', 'docs/database.md', 'docs/security.md', 'docs/coming-from.md', 'docs/webhooks.md'
  ].map((path) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8'))
)
const docsText = pages.join('\n')
// Variables that the pages export first.
const variables = { RECRUITING_URL: 'https://ats.example.com/api/v1/public/acme' }

/** The words of a shell line, without its comment. */
function split (line: string): string[] {
  return [...line.replace(/ #.*/, '').matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? String(bare))
}

t.test('every command line in the docs is valid', async (t) => {
  const lines = [...docsText.matchAll(/^npx fastify-recruiting-api (.+)$/gm), ...docsText.matchAll(/`npx fastify-recruiting-api ([^`]+)`/g)].map(([, line = '']) => line)
  t.ok(lines.length > 15)
  for (const line of lines) {
    const words = split(line)
    const name = [words.slice(0, 2).join(' '), String(words[0])].find((known) => Object.hasOwn(commands, known))
    const entry = commands[String(name)]
    if (entry === undefined) throw new Error(`there is no command: ${line}`)
    const command = await entry.load()
    t.doesNotThrow(() => parseFlags(words.slice(String(name).split(' ').length), command, variables), line)
  }
})

t.test('docs/commands.md names every command', async (t) => {
  const [, table = ''] = docsText.split('| command | what it does |\n|---|---|\n')
  const rows = table.split('\n\n', 1).join('').split('\n').map((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))
  const named = rows.flatMap(([first = '', ...rest]) => [first, ...rest.map((name) => name.startsWith(first) ? name : `${first.split(' ')[0]} ${name}`)])
  for (const name of Object.keys(commands)) t.ok(named.includes(name), name)
})

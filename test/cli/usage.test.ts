import t from 'tap'
import { commands } from '../../src/cli/commands.js'
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

t.test('--version is that of the package', async (t) => {
  t.strictSame(await cli('--version'), { code: 0, out: `${process.env['npm_package_version'] ?? '0.1.0'}\n`, err: '' })
})

const wrong: Array<[line: string, message: string]> = [
  ['migrat', 'fastify-recruiting-api: "migrat": there is no such command, did you mean migrate?'],
  ['key list', 'fastify-recruiting-api: "key": there is no such command, did you mean keys list?'],
  ['frobnicate', 'fastify-recruiting-api: "frobnicate": there is no such command; --help lists all of them'],
  ['toString', 'fastify-recruiting-api: "toString": there is no such command; --help lists all of them'],
  ['demo --json', 'demo: --json: there is no such option; --help lists all of them'],
  ['demo now', 'demo: "now": unexpected argument'],
  ['keys', 'fastify-recruiting-api: keys: add one of issue, list, rotate, revoke'],
  ['keys lst', 'fastify-recruiting-api: keys: add one of issue, list, rotate, revoke'],
  ['keys list', 'keys list: --tenant: missing, add --tenant ID'],
  ['keys list --tenant', 'keys list: --tenant: needs a value, --tenant ID'],
  ['keys list --tenant=', 'keys list: --tenant: needs a value, --tenant ID'],
  ['keys list --tenant --json', 'keys list: --tenant: needs a value, --tenant ID'],
  ['keys list --tenant a --tenant b', 'keys list: --tenant: given twice'],
  ['keys list --tenat a', 'keys list: --tenat: there is no such option, did you mean --tenant?'],
  ['keys list --constructor a', 'keys list: --constructor: there is no such option; --help lists all of them'],
  ['keys list --tenant a --json=yes', 'keys list: --json: takes no value'],
  ['keys list acme --tenant a', 'keys list: "acme": unexpected argument'],
  ['keys revoke', 'keys revoke: ID: missing, usage: fastify-recruiting-api keys revoke ID --tenant ID [OPTIONS]'],
  ['tenants rename acme', 'tenants rename: TO: missing, usage: fastify-recruiting-api tenants rename FROM TO [OPTIONS]'],
  ['init', 'init: DIR: missing, usage: fastify-recruiting-api init DIR [OPTIONS]'],
  ['prune', 'prune: --retention-days: missing, add --retention-days DAYS'],
  ['reseal', 'reseal: --secret-keys: missing, add --secret-keys FILE or set RECRUITING_SECRET_KEYS']
]

for (const [line, message] of wrong) {
  t.test(`${line}: wrong usage is one line that names the argument, and exit code 2`, async (t) => {
    t.strictSame(await cli(line), { code: 2, out: '', err: `${message}\n` })
  })
}

t.test('a database has to be named', async (t) => {
  const message = 'stats: --database-url: missing, and DATABASE_URL is not set; add --database-url postgres://user@host/database\n'
  t.strictSame(await createCli(undefined)('stats'), { code: 2, out: '', err: message })
  t.strictSame(await createCli('')('stats'), { code: 2, out: '', err: message })
  for (const url of ['http://user:geheim@host/', 'postgres://user:geheim@[x', 'localhost']) {
    const { code, err } = await cli(['stats', '--database-url', url])
    t.strictSame([code, err], [2, 'stats: --database-url: expected a URL such as postgres://user@host/database\n'], url)
  }
  t.match((await cli(['stats', '--database-url', '/nowhere ats'])).err, 'cannot connect to the database: connect ENOENT /nowhere/')
})

t.test('a database that cannot be reached is said in one line, without the password', async (t) => {
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

t.test('a version of pg without named exports will do', async (t) => {
  const { err } = await cli('stats', { importDriver: async () => ({ default: (await import('pg')).default }) })
  t.match(err, /ECONNREFUSED/)
})

t.test('a name with several addresses is one line too', async (t) => {
  const refused = (address: string): Error => Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: 'ECONNREFUSED' })
  const error = Object.assign(new AggregateError([refused('::1:5432'), refused('127.0.0.1:5432')], ''), { code: 'ECONNREFUSED' })
  const { code, err } = await cli('stats', { importDriver: () => Promise.reject(error) })
  t.strictSame([code, err], [1, 'stats: cannot connect to the database: connect ECONNREFUSED ::1:5432; check the database URL\n'])
})

t.test('what is thrown is shown, whatever it is', async (t) => {
  // eslint-disable-next-line no-throw-literal -- as a driver may
  const { code, err } = await cli('stats', { importDriver: async () => { throw 'a\nfew\twords' } })
  t.strictSame([code, err], [1, 'stats: a few words\n'])
})

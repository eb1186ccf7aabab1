import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { postgresStorage } from '../../src/storages/postgres/index.js'
import { createCli, startCliHost } from '../fixtures/cli/cli.js'
import { startConnectProxy } from '../fixtures/receivers/connect-proxy.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'

const nowhere = 'postgres://ada:geheim@127.0.0.1:1/none'
const unreachable = { code: 1, err: /^stats: cannot connect to the database: .*ECONNREFUSED/ }

t.test('the database URL comes from an option, a file or the environment, in this order', async (t) => {
  const { url } = await startCliHost(t)
  const cli = createCli(undefined)
  const folder = t.testdir({ right: `${url}\n`, wrong: `${nowhere}\n`, empty: ' \n', bad: 'http://ada:geheim@host/' })
  t.match(await cli(`stats --database-url-file ${folder}/right`, { env: { RECRUITING_DATABASE_URL: nowhere } }), { code: 0 })
  t.match(await cli(['stats', '--database-url', url], { env: { RECRUITING_DATABASE_URL: nowhere } }), { code: 0 })
  t.match(await cli('stats', { env: { RECRUITING_DATABASE_URL: url, DATABASE_URL: nowhere } }), { code: 0 })
  t.match(await cli('stats', { env: { RECRUITING_DATABASE_URL: ' ', DATABASE_URL: url } }), { code: 0 }, 'an empty variable is none')
  t.match(await cli(`stats --database-url-file ${folder}/wrong`, { env: { DATABASE_URL: url } }), unreachable)

  const rejected: Array<[argv: string, env: Record<string, string>, message: string]> = [
    [`--database-url ${nowhere} --database-url-file ${folder}/right`, {}, '--database-url-file: cannot be combined with --database-url'],
    [`--database-url-file ${folder}/empty`, { DATABASE_URL: url }, '--database-url-file: the file is empty'],
    [`--database-url-file ${folder}/none`, { DATABASE_URL: url }, '--database-url-file: the file cannot be read (ENOENT)'],
    [`--database-url-file ${folder}/bad`, {}, '--database-url-file: expected a URL such as postgres://user@host/database'],
    ['', { RECRUITING_DATABASE_URL: 'http://ada:geheim@host/' }, 'RECRUITING_DATABASE_URL: expected a URL such as postgres://user@host/database'],
    ['', { DATABASE_URL: 'ada:geheim' }, 'DATABASE_URL: expected a URL such as postgres://user@host/database']
  ]
  for (const [argv, env, message] of rejected) {
    t.strictSame(await cli(`stats ${argv}`, { env }), { code: 2, out: '', err: `stats: ${message}\n` })
  }
})

t.test('the secrets of webhooks test', async (t) => {
  const key = Buffer.alloc(32, 1)
  const { cli, pool, recruiting, url } = await startCliHost(t, { secretKeys: [key] })
  const receiver = await startReceiver(t)
  const { id } = await recruiting.webhooks.create('acme', { name: 'CRM', target_url: receiver.url, event_types: ['application.created'] })
  const proxy = await startConnectProxy(t)
  const withPassword = proxy.url.replace('//', '//ada:geheim@')
  const folder = t.testdir({ proxy: `${withPassword}\n`, bad: 'ftp://ada:geheim@host/' })
  const line = `webhooks test ${id} --yes --allow-http --allow-networks 127.0.0.1/32`
  const env = (variables: Record<string, string>) => ({ env: { DATABASE_URL: url, RECRUITING_SECRET_KEYS: key.toString('hex'), ...variables } })

  await t.test('the URL of the proxy comes from an option, a file or the environment', async (t) => {
    const ways: Array<[option: string, variables: Record<string, string>]> = [
      [`--proxy ${withPassword}`, { RECRUITING_PROXY: 'http://127.0.0.1:1' }],
      [`--proxy-file ${folder}/proxy`, { RECRUITING_PROXY: 'http://127.0.0.1:1' }],
      ['', { RECRUITING_PROXY: withPassword }]
    ]
    for (const [index, [option, variables]] of ways.entries()) {
      const { code, out, err } = await cli(`${line} ${option}`, env(variables))
      t.equal(code, 0)
      t.notMatch(out + err, 'geheim')
      t.equal(proxy.heads.length, index + 1)
      t.match(proxy.heads.at(-1), new RegExp(`^proxy-authorization: basic ${Buffer.from('ada:geheim').toString('base64')}\r$`, 'mi'))
    }
  })

  await t.test('an invalid proxy URL is rejected, and the error names its source', async (t) => {
    const problem = 'expected a URL such as http://proxy.example:3128, got "another protocol"'
    const ways: Array<[option: string, source: string, variables: Record<string, string>]> = [
      ['--proxy ftp://ada:geheim@host/', '--proxy', {}],
      [`--proxy-file ${folder}/bad`, '--proxy-file', {}],
      ['', 'RECRUITING_PROXY', { RECRUITING_PROXY: 'ftp://ada:geheim@host/' }]
    ]
    for (const [option, source, variables] of ways) {
      t.strictSame(await cli(`${line} ${option}`, env(variables)), { code: 2, out: '', err: `webhooks test: ${source}: ${problem}\n` })
    }
    t.match(await cli(`${line} --proxy ${proxy.url} --proxy-file ${folder}/proxy`), { code: 2, err: 'webhooks test: --proxy-file: cannot be combined with --proxy\n' })
  })

  await t.test('keys come from the environment, separated by spaces or commas', async (t) => {
    const other = Buffer.alloc(32, 2).toString('base64')
    for (const separator of [',', ' ', '\n', ', ']) {
      t.match(await cli(line, env({ RECRUITING_SECRET_KEYS: [other, key.toString('hex')].join(separator) })), { code: 0 })
    }
    t.match(await cli(line, env({ RECRUITING_SECRET_KEYS: other })), { code: 1, err: /none of the secretKeys opens the secret/ })
    t.match(await cli(line, env({ RECRUITING_SECRET_KEYS: `${other},geheim` })), {
      code: 2, err: 'webhooks test: RECRUITING_SECRET_KEYS: key 2 is not 32 bytes in base64 or hexadecimal\n'
    })
    const path = join(folder, 'keys')
    await writeFile(path, key.toString('base64'))
    t.match(await cli(`${line} --secret-keys ${path}`, env({ RECRUITING_SECRET_KEYS: other })), { code: 0 }, 'a file takes precedence over the environment')
    t.match(JSON.parse((await cli('doctor --json --wait-seconds 0', env({}))).out).findings.filter(({ check }: { check: string }) => check === 'secrets'), [
      { state: 'ok', text: 'the keys open all of them' }
    ])
    await pool.query("update recruiting.webhooks set secret = 'whsec_plain'")
    const warnings: string[] = []
    const logger = { info () {}, error () {}, warn: (_fields: object, message: string) => { warnings.push(message) } }
    const recruiting = createRecruiting({ storage: postgresStorage(pool), logger })
    await recruiting.close()
    t.match(warnings.join(), /^webhook secrets are stored in plain text: set secretKeys/)
    t.match(
      JSON.parse((await cli('doctor --json --wait-seconds 0', env({}))).out).findings.filter(
        ({ check }: { check: string }) => check === 'secrets'
      ),
      [{ state: 'advice', text: 'the secrets of 1 webhook are stored in plain text', remedy: /reseal/ }]
    )
    t.match(await cli('reseal --yes', env({ RECRUITING_SECRET_KEYS: `${other},${key.toString('hex')}` })), { code: 0, out: 'encrypted 1 secret\n' })
    t.match(await cli('tenants rename acme initech --yes', env({ RECRUITING_SECRET_KEYS: other })), { code: 0 })
  })
})

t.test('of a .env file, only a database URL with its own password is used, and its path is shown', async (t) => {
  const options: object[] = []
  const driver = {
    Pool: class {
      constructor (given: object) { options.push(given) }
      on (): void {}
      async query (): Promise<never> { throw new Error('no server') }
      async end (): Promise<void> {}
    }
  }
  const audit = `${t.testdir({})}/audit`
  const others = `RECRUITING_AUDIT_FILE=${audit}\nRECRUITING_ACTOR=ada\nPGPASSWORD=p\nNODE_OPTIONS=--inspect\n`
  const inFolder = (text: string, env = {}) => createCli(undefined, {
    env, importDriver: async () => driver, readEnvFile: async () => ({ path: '/else/.env', text: others + text })
  })
  const connectionString = 'postgres://eve:own@db.example/ats'
  t.match(await inFolder(`DATABASE_URL=${connectionString}`)('stats'), {
    code: 1, err: /^using the database URL of \/else\/\.env\nstats: no server\n$/
  })
  t.match(options, [{ connectionString }])
  for (const url of ['postgres://eve@db.example/ats', 'postgres://eve:@db.example/ats', 'postgres://db.example?user=eve', '/run/pg']) {
    t.match(await inFolder(`RECRUITING_DATABASE_URL=${url}`)('stats'), {
      code: 2, err: 'stats: /else/.env: the database URL has no password, so it is not used: set DATABASE_URL yourself\n'
    })
  }
  t.equal(options.length, 1)
  t.match(await inFolder('')('stats'), { code: 2, err: /^stats: --database-url: missing/ })
  t.match(await inFolder(`DATABASE_URL=${connectionString}`, { DATABASE_URL: 'postgres://own.example' })('stats'), { err: 'stats: no server\n' })
  t.match(options[1], { connectionString: 'postgres://own.example' })
  t.match(await inFolder('RECRUITING_URL=https://ats.example/acme\nRECRUITING_API_KEY=k')('listen --forward http://localhost'), {
    code: 2, err: /--url: /
  })
  t.notOk(existsSync(audit))
})

import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createCli } from '../fixtures/cli/cli.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const cli = createCli(undefined)

function listFiles (folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(folder, name)).isFile()).sort()
}

t.test('init writes the example and the files that depend on the folder', async (t) => {
  const folder = join(t.testdir({}), 'new', 'My ATS!')
  t.strictSame(await cli(['init', folder]), {
    code: 0, out: `wrote an ATS to ${folder}. Next:\n\n  cd '${folder}'\n  npm install\n  npm start\n`, err: ''
  })
  const example = join(root, 'examples/ats')
  for (const name of listFiles(example)) t.equal(readFileSync(join(folder, name), 'utf8'), readFileSync(join(example, name), 'utf8'), name)
  t.strictSame(listFiles(folder), [...listFiles(example), '.env', '.gitignore', 'package.json'].sort())
  t.equal(readFileSync(join(folder, '.gitignore'), 'utf8'), '.env\n.postgres\nnode_modules\n')
})

t.test('package.json has the major versions that the package is tested with', async (t) => {
  const folder = join(t.testdir({}), 'My ATS!')
  await cli(['init', folder])
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const { name, type, engines, dependencies, devDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  t.strictSame({ name, type, engines }, { name: 'my-ats', type: 'module', engines: own.engines })
  const { 'fastify-recruiting-api': version, ...others } = { ...dependencies, ...devDependencies }
  t.equal(version, `^${own.version}`)
  t.ok(Object.keys(others).length > 5)
  for (const [other, range] of Object.entries(others)) {
    t.equal(range, { ...own.devDependencies, ...own.dependencies }[other], other)
    t.match(range, /^[\^~]\d/, other)
  }
  const imports = listFiles(join(root, 'examples/ats')).filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [...readFileSync(join(root, 'examples/ats', file), 'utf8').matchAll(/ from '((?:@[\w-]+\/)?[a-z][\w-]*)/g)].map(([, found = '']) => found))
  for (const found of imports) t.ok(found === 'node' || found in dependencies, `${found} is a dependency`)
})

t.test('the secrets are new for each folder, and only their owner can read them', async (t) => {
  const folders = ['one', 'two'].map((name) => join(t.testdirName, name))
  t.testdir({})
  for (const folder of folders) await cli(['init', folder])
  const [one = new Map(), two] = folders.map((folder) => {
    t.equal(statSync(join(folder, '.env')).mode & 0o777, 0o600)
    return new Map([...readFileSync(join(folder, '.env'), 'utf8').matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]))
  })
  t.strictSame(
    [...one.keys()],
    [
      'POSTGRES_PORT', 'POSTGRES_PASSWORD', 'DATABASE_URL', 'DEVELOPER_SIGN_IN', 'RECRUITING_SECRET_KEYS',
      'PORTAL_SECRET_KEYS'
    ]
  )
  for (const name of ['POSTGRES_PASSWORD', 'RECRUITING_SECRET_KEYS', 'PORTAL_SECRET_KEYS']) t.not(one.get(name), two?.get(name), name)
  t.not(one.get('RECRUITING_SECRET_KEYS'), one.get('PORTAL_SECRET_KEYS'))
  t.equal(Buffer.from(one.get('RECRUITING_SECRET_KEYS'), 'base64').length, 32)
  t.equal(one.get('DATABASE_URL'), `postgres://postgres:${one.get('POSTGRES_PASSWORD')}@127.0.0.1:${one.get('POSTGRES_PORT')}/postgres`)
})

t.test('init rejects a folder that is not empty, and a file', async (t) => {
  const folder = t.testdir({ notes: { '.git': {} }, file: '' })
  for (const [name, reason] of [
    ['notes', 'is not empty: it contains .git. Choose a new folder'],
    ['file', 'is not a folder'],
    ['file/below', 'is not a folder'],
    ['x'.repeat(300), 'cannot be read (ENAMETOOLONG)']
  ]) {
    t.strictSame(await cli(['init', `${folder}/${name}`]), { code: 1, out: '', err: `init: ${folder}/${name} ${reason}\n` })
  }
  t.strictSame(listFiles(folder), ['file'])
})

t.test('the current folder needs no cd, and a name without letters still creates a package', async (t) => {
  const before = process.cwd()
  const folder = join(t.testdir({}), '…')
  mkdirSync(folder)
  process.chdir(folder)
  t.teardown(() => process.chdir(before))
  t.strictSame(await cli('init .'), { code: 0, out: `wrote an ATS to ${folder}. Next:\n\n  npm install\n  npm start\n`, err: '' })
  t.equal(JSON.parse(readFileSync('package.json', 'utf8')).name, 'ats')
  process.chdir('..')
  t.match((await cli('init plain')).out, /\n {2}cd plain\n/)
})

const cliDemo = createCli('postgres://postgres@127.0.0.1:1/nowhere')

t.test('demo ignores DATABASE_URL and runs in memory, on the ports of its options or the environment', async (t) => {
  const calls: unknown[] = []
  const importDemo = async () => ({
    async runDemo (surroundings: unknown) {
      calls.push(surroundings)
      return 0
    }
  })
  t.strictSame(await cliDemo('demo', { importDemo, env: { RECEIVER_PORT: '1' } }), { code: 0, out: '', err: '' })
  await cliDemo('demo --port 4000 --receiver-port 4001', { importDemo, env: { PORT: '1', RECEIVER_PORT: '1' } })
  const usual = { databaseUrl: null, referencePage: null, otherPorts: 'npx fastify-recruiting-api demo --port 4000 --receiver-port 4001' }
  t.strictSame(calls, [
    { ...usual, env: { PORT: undefined, RECEIVER_PORT: '1' } },
    { ...usual, env: { PORT: '4000', RECEIVER_PORT: '4001' } }
  ])
})

t.test('without fastify, demo names the missing package', async (t) => {
  const importDemo = async (): Promise<never> => { throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' }) }
  t.strictSame(await cliDemo('demo', { importDemo }), { code: 1, out: '', err: 'demo: the package fastify is not installed: run npm install fastify\n' })
  const broken = await cliDemo('demo', { importDemo: async () => { throw new SyntaxError('Unexpected token') } })
  t.match(broken, { code: 1, err: /^demo: .*Unexpected token/ })
})

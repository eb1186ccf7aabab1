import { existsSync } from 'node:fs'
import t from 'tap'
import { createIo } from '../../src/cli/terminal.js'
import { createCli } from '../fixtures/cli/cli.js'

const cli = createCli('postgres://postgres@127.0.0.1:1/nowhere')

t.test('demo runs in memory, whatever DATABASE_URL says, on the ports of its options or the environment', async (t) => {
  const calls: unknown[] = []
  const importDemo = async () => ({
    async runDemo (surroundings: unknown) {
      calls.push(surroundings)
      return 0
    }
  })
  t.strictSame(await cli('demo', { importDemo, env: { RECEIVER_PORT: '1' } }), { code: 0, out: '', err: '' })
  await cli('demo --port 4000 --receiver-port 4001', { importDemo, env: { PORT: '1', RECEIVER_PORT: '1' } })
  const usual = { databaseUrl: null, referencePage: null, otherPorts: 'npx fastify-recruiting-api demo --port 4000 --receiver-port 4001' }
  t.strictSame(calls, [
    { ...usual, env: { PORT: undefined, RECEIVER_PORT: '1' } },
    { ...usual, env: { PORT: '4000', RECEIVER_PORT: '4001' } }
  ])
})

t.test('the exit code is that of the demo', async (t) => {
  t.equal((await cli('demo', { importDemo: async () => ({ runDemo: async () => 1 }) })).code, 1)
})

t.test('without fastify, demo says what to install', async (t) => {
  const importDemo = async (): Promise<never> => { throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' }) }
  t.strictSame(await cli('demo', { importDemo }), { code: 1, out: '', err: 'demo: the package fastify is not installed: run npm install fastify\n' })
  const broken = await cli('demo', { importDemo: async () => { throw new SyntaxError('Unexpected token') } })
  t.match(broken, { code: 1, err: /^demo: .*Unexpected token/ })
})

t.test('the demo is next to the commands in the package', async (t) => {
  const { importDemo } = createIo(process)
  const file = new URL('../../dist/demo/main.js', import.meta.url)
  const result: unknown = await importDemo().catch((error: unknown) => error)
  if (existsSync(file)) t.match(result, { runDemo: Function }, 'of the last build')
  else t.match(result, { code: 'ERR_MODULE_NOT_FOUND', url: file.href })
})

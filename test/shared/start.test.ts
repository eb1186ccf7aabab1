import t from 'tap'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const script = `
  import { createRequire } from 'node:module'
  import Fastify from 'fastify'
  import { recruitingApi } from './src/index.ts'
  import { memoryKeyLookup, memoryStorage } from './src/memory/index.ts'

  const app = Fastify()
  await app.register(recruitingApi, { storage: memoryStorage(), keyLookup: memoryKeyLookup([]) })
  await app.ready()
  await app.close()
  const names = Object.keys(createRequire(import.meta.url).cache).map((path) => /.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(path)?.[1])
  console.log(JSON.stringify([...new Set(names)]))`

t.test('a server that has sent nothing has not loaded undici', async (t) => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--import=./test/fixtures/loader/register.js', '--input-type=module', '-e', script])
  const loaded = JSON.parse(stdout) as string[]
  t.ok(loaded.includes('fastify'))
  t.notOk(loaded.includes('undici'))
})

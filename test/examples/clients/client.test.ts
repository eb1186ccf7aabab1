import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import Fastify from 'fastify'
import openapiTS, { astToString } from 'openapi-typescript'
import t from 'tap'
import type { Test } from 'tap'
import { recruitingApi } from '../../../src/index.js'
import { memoryKeyLookup, memoryStorage } from '../../../src/memory/index.js'
import { runExample } from '../fixtures/run-example.js'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../../', import.meta.url))

async function serve (t: Test): Promise<string> {
  const app = Fastify()
  const candidates = [{ id: 1, full_name: 'Ana Costa', headline: 'Nurse' }, { id: 2, full_name: 'Bo Lind' }]
  await app.register(recruitingApi, {
    storage: memoryStorage({ tenants: { acme: { candidates } } }),
    keyLookup: memoryKeyLookup([{ key: 'acme-secret-key', tenantSlug: 'acme', scopes: ['candidates:read', 'webhooks:read', 'webhooks:write'] }]),
    delivery: false
  })
  t.teardown(() => app.close())
  return app.listen({ port: 0, host: '127.0.0.1' })
}

t.test('a client typed by the served document, with the default settings of openapi-typescript, compiles, and its mistakes do not', async (t) => {
  const origin = await serve(t)
  const types = await openapiTS(new URL(`${origin}/api/v1/public/openapi.json`), { silent: true })
  await writeFile(new URL('../../../examples/client/api.d.ts', import.meta.url), astToString(types))

  await t.resolves(run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'examples/client'], { cwd: root }))
})

t.test('a typed client lists candidates, registers a webhook and copies candidates by sync', async (t) => {
  const example = runExample(t, 'client/client.ts', { ORIGIN: await serve(t) })
  await example.output(/^1 Ana Costa Nurse\n1 found\nwebhook 1 has a secret\ncopied Ana Costa and Bo Lind\n$/)
  t.equal(await example.exit(), 0)
})

t.test('a typed client receives the reason of a refusal', async (t) => {
  const example = runExample(t, 'client/client.ts', { ORIGIN: await serve(t), KEY: 'another' })
  await example.output(/^Missing or invalid API key \(req_\w+\)/)
  t.equal(await example.exit(), 1)
})

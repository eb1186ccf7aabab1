import Fastify from 'fastify'
import t from 'tap'
import type { Test } from 'tap'
import { recruitingApi } from '../../../src/index.js'
import { memoryKeyLookup, memoryStorage } from '../../../src/memory/index.js'
import { findTool } from '../../fixtures/programs.js'
import { runExample } from '../fixtures/run-example.js'

const noTools = findTool('openapi-fetch')

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

t.test('a typed client lists candidates, registers a webhook and copies candidates by sync', { skip: noTools }, async (t) => {
  const example = runExample(t, 'client/client.ts', { ORIGIN: await serve(t) })
  await example.output(/^1 Ana Costa Nurse\n1 found\nwebhook 1 has a secret\ncopied Ana Costa and Bo Lind\n$/)
  t.equal(await example.exit(), 0)
})

t.test('a typed client receives the reason of a refusal', { skip: noTools }, async (t) => {
  const example = runExample(t, 'client/client.ts', { ORIGIN: await serve(t), KEY: 'another' })
  await example.output(/^Missing or invalid API key \(req_\w+\)/)
  t.equal(await example.exit(), 1)
})

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify from 'fastify'
import t from 'tap'
import { recruitingApi } from '../../../src/index.js'
import { memoryKeyLookup, memoryStorage } from '../../../src/memory/index.js'
import { runExample } from '../fixtures/run-example.js'

t.test('the client of the package prints what changed and happened since the last run, and the reason of a refusal', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'recruiting-client-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const storage = memoryStorage({ tenants: { acme: { candidates: [{ id: 1, full_name: 'Ana Costa' }, { id: 2, full_name: 'Bo Lind' }] } } })
  const app = Fastify({ forceCloseConnections: true })
  t.teardown(() => app.close())
  await app.register(recruitingApi, { storage, keyLookup: memoryKeyLookup([{ key: 'acme-secret-key', tenantSlug: 'acme', scopes: ['candidates:read', 'webhooks:read'] }]), delivery: false })
  const env = { BASE_URL: `${await app.listen({ port: 0, host: '127.0.0.1' })}/api/v1/public`, KEY: 'acme-secret-key', FOLDER: folder }

  await runExample(t, '19-client.ts', env).output(/^1 Ana Costa\n2 Bo Lind\nup to date\n$/)
  storage.candidates.save('acme', { id: 2, full_name: 'Bo Lindt' })
  storage.candidates.remove('acme', 1)
  await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: { id: 7 } })
  await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.hired', data: { id: 7 } })
  await runExample(t, '19-client.ts', env).output(/^2 Bo Lindt\n1 is gone\n20\S+Z application 7\nup to date\n$/)

  const refused = runExample(t, '19-client.ts', { ...env, KEY: 'another' })
  await refused.output(/^Missing or invalid API key \(unauthorized, req_\w+\)\n$/)
  t.equal(await refused.exit(), 1)
})

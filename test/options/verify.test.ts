import t from 'tap'
import { Type } from '@sinclair/typebox'
import { createRecruiting } from '../../src/index.js'
import { memoryStorage } from '../../src/memory/index.js'
import { buildApp } from '../fixtures/api/app.js'
import { captureLogs } from '../fixtures/api/logs.js'

const ids = { candidate: 'integer', job: 'integer', source: 'integer', recruiter: 'integer' }
const listed = { candidates: ['id', 'full_name', 'headline', 'source_id'], jobs: ['id', 'name', 'status'], ids, hasTenantIds: false }

t.test('a storage is verified with the published fields, the kinds of their ids, and whether tenants have ids', async (t) => {
  const asked: unknown[] = []
  const storage = { ...memoryStorage(), async verify (published: unknown) { asked.push(published); return [] } }
  await buildApp(t, { storage })
  await buildApp(t, { storage, candidateFields: Type.Object({ email: Type.String() }), jobFields: Type.Object({ city: Type.String() }) })
  await buildApp(t, { storage, ids: { job: 'string', recruiter: 'string' } })
  await buildApp(t, { storage, tenantId: () => 42 })
  const engine = createRecruiting({ storage })
  await engine.close()
  t.strictSame(asked, [
    listed,
    { candidates: [...listed.candidates, 'email'], jobs: [...listed.jobs, 'city'], ids, hasTenantIds: false },
    { ...listed, ids: { ...ids, job: 'string', recruiter: 'string' } },
    { ...listed, hasTenantIds: true },
    null
  ])
})

t.test('a host does not start on a storage that is not ready', async (t) => {
  const storage = { ...memoryStorage(), verify: async () => { throw new Error('run the migrations') } }
  await t.rejects(buildApp(t, { storage }), { message: 'run the migrations' })
})

t.test('an engine without a server logs that the storage is not ready, and goes on trying', async (t) => {
  const storage = { ...memoryStorage(), verify: async () => { throw new Error('run the migrations') } }
  const errors: object[] = []
  const engine = createRecruiting({
    storage, logger: { info () {}, warn () {}, error: (fields, message) => { errors.push({ ...fields, message }) } }
  })
  await engine.drain()
  await engine.close()
  t.match(errors, [{ err: { message: 'run the migrations' }, message: 'the storage is not ready' }])
})

t.test('warnings of the storage are logged', async (t) => {
  const logs = captureLogs()
  await buildApp(t, { storage: { ...memoryStorage(), verify: async () => ['an index is missing'] }, server: { logger: logs.logger } })
  t.match(logs.lines.find(({ msg }) => msg === 'an index is missing'), { level: 40 })
})

t.test('the lists ask for the fields that are published', async (t) => {
  const asked: unknown[] = []
  const storage = memoryStorage()
  const candidates = { ...storage.candidates, async list (_: string, { fields }: { fields: readonly string[] }) { asked.push(fields); return [] } }
  const jobs = { ...storage.jobs, async list (_: string, { fields }: { fields: readonly string[] }) { asked.push(fields); return [] } }
  const app = await buildApp(t, { storage: { ...storage, candidates, jobs }, candidateFields: Type.Object({ email: Type.String() }) })
  for (const path of ['candidates', 'jobs']) {
    await app.inject({ url: `/api/v1/public/acme/${path}`, headers: { authorization: 'Bearer acme-full-key' } })
  }
  t.strictSame(asked, [[...listed.candidates, 'email'], listed.jobs])
})

import { Type } from '@sinclair/typebox'
import t from 'tap'
import { isRecruitingApiError } from '../../../src/index.js'
import { memoryStorage } from '../../../src/memory/index.js'
import { bearer, buildApp, keys, tenants } from '../../fixtures/api/app.js'
import { spyStorage } from '../../fixtures/delivery/spy-storage.js'

const base = '/api/v1/public/acme'
const meta = { page: 1, per_page: 25, total: 1, total_pages: 1 }

const storage = memoryStorage({
  tenants: {
    acme: {
      candidates: [{
        id: 1,
        full_name: 'Ada Lovelace',
        recruiter_id: 11,
        email: 'canary@example.com',
        salary: { amount: 1, currency: 'canary' },
        tags: ['canary'],
        __private: 'canary'
      }],
      jobs: [{ id: 1, name: 'Analyst', status: 'published', department: 'canary', internal_notes: 'canary' }]
    }
  }
})

t.test('an item has exactly the fields of the contract, whatever a row holds', async (t) => {
  const app = await buildApp(t, { storage })
  const candidates = await app.inject({ url: `${base}/candidates`, headers: bearer(keys.full) })
  const jobs = await app.inject({ url: `${base}/jobs`, headers: bearer(keys.full) })
  t.equal(candidates.body, JSON.stringify({ data: [{ id: 1, full_name: 'Ada Lovelace', headline: null, source_id: null }], meta }))
  t.equal(jobs.body, JSON.stringify({ data: [{ id: 1, name: 'Analyst', status: 'published' }], meta }))
})

t.test('candidateFields and jobFields publish the fields they declare, and nothing within them that they do not', async (t) => {
  const app = await buildApp(t, {
    storage,
    candidateFields: Type.Object({ email: Type.String(), salary: Type.Object({ amount: Type.Integer() }) }),
    jobFields: Type.Object({ department: Type.String() })
  })
  const candidates = await app.inject({ url: `${base}/candidates`, headers: bearer(keys.full) })
  const jobs = await app.inject({ url: `${base}/jobs`, headers: bearer(keys.full) })
  t.same(candidates.json(), {
    data: [{ id: 1, full_name: 'Ada Lovelace', headline: null, source_id: null, email: 'canary@example.com', salary: { amount: 1 } }],
    meta
  })
  t.same(jobs.json(), { data: [{ id: 1, name: 'Analyst', status: 'published', department: 'canary' }], meta })
})

t.test('candidateFields do not publish fields of jobs', async (t) => {
  const app = await buildApp(t, { storage, candidateFields: Type.Object({ department: Type.Optional(Type.String()) }) })
  const jobs = await app.inject({ url: `${base}/jobs`, headers: bearer(keys.full) })
  t.same(jobs.json().data, [{ id: 1, name: 'Analyst', status: 'published' }])
})

t.test('webhooks and deliveries leave out whatever else a row of the storage holds', async (t) => {
  const { storage } = spyStorage(memoryStorage({ tenants }), async ({ method }, real) => {
    const result = await real()
    const spoil = (row: unknown) => ({ ...row as object, secret: 'canary', tenant_slug: 'canary', previous_secret: 'canary', response_excerpt: 'canary' })
    if (method.endsWith('.list')) return (result as unknown[]).map((row) => ({ ...spoil(row), body: 'canary', attempts: ['canary'], health: 'canary' }))
    return method.endsWith('.find') || method.endsWith('.update') ? spoil(result) : result
  })
  const app = await buildApp(t, { storage })
  const headers = bearer(keys.full)
  const payload = { name: 'ATS events', target_url: 'https://example.com/', event_types: ['job.created'] }
  await app.inject({ method: 'POST', url: `${base}/webhooks`, headers, payload })
  await app.recruiting.emit({ tenantSlug: 'acme', type: 'job.created', data: {} })
  const answers = [
    await app.inject({ url: `${base}/webhooks`, headers }),
    await app.inject({ url: `${base}/webhooks/1`, headers }),
    await app.inject({ method: 'PATCH', url: `${base}/webhooks/1`, headers, payload: { name: 'Renamed' } }),
    await app.inject({ url: `${base}/webhooks/1/deliveries`, headers }),
    await app.inject({ url: `${base}/webhooks/1/deliveries/1`, headers })
  ]
  const { body } = answers[4]?.json().data ?? {}
  t.same(answers.map(({ statusCode }) => statusCode), [200, 200, 200, 200, 200])
  // What is sent has the tenant in it.
  t.notMatch(answers.map(({ payload }) => payload).join('').replace(JSON.stringify(body), ''), /canary|"secret"|"previous_secret"|tenant_slug/)
})

t.test('a field that the contract has already cannot be declared a second time', async (t) => {
  for (const options of [
    { candidateFields: Type.Object({ headline: Type.String() }) },
    { candidateFields: Type.Object({ id: Type.String() }) },
    { jobFields: Type.Object({ status: Type.Integer() }) }
  ]) {
    const [name = ''] = Object.keys(options)
    const error = await buildApp(t, options).catch((error: unknown) => error)
    t.ok(isRecruitingApiError(error), name)
    t.match(error, { code: 'invalid_option', field: new RegExp(`^${name}\\.`) })
  }
})

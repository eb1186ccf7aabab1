import { Type } from '@sinclair/typebox'
import t from 'tap'
import { memoryStorage } from '../../src/memory/index.js'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'

const base = '/api/v1/public/acme'
const headers = bearer(keys.full)

t.test('the storage is asked for the published fields, and sends no others', async (t) => {
  const { storage, calls } = spyStorage(memoryStorage({
    tenants: { acme: { candidates: [{ id: 1, full_name: 'Ada', phone: '1', city: 'London' }], jobs: [{ id: 1, name: 'Nurse', status: 'draft', city: 'Lyon' }] } }
  }))
  const app = await buildApp(t, { storage, candidateFields: Type.Object({ city: Type.String() }), jobFields: Type.Object({ city: Type.String() }) })
  const candidate = await app.inject({ url: `${base}/candidates/1`, headers })
  const job = await app.inject({ url: `${base}/jobs/1`, headers })
  t.same(candidate.json(), { data: { id: 1, full_name: 'Ada', headline: null, source_id: null, city: 'London' } })
  t.same(job.json(), { data: { id: 1, name: 'Nurse', status: 'draft', city: 'Lyon' } })
  t.same(calls, [
    {
      method: 'candidates.find',
      args: [
        'acme',
        1,
        { fields: ['id', 'full_name', 'headline', 'source_id', 'city'], textFields: ['full_name', 'headline', 'city'] }
      ]
    },
    {
      method: 'jobs.find',
      args: ['acme', 1, { fields: ['id', 'name', 'status', 'city'], textFields: ['name', 'status', 'city'] }]
    }
  ])
})

import Fastify from 'fastify'
import recruitingApi, { isRecruitingApiError, RecruitingApiError } from 'fastify-recruiting-api'
import { ApiError, createClient } from 'fastify-recruiting-api/client'
import { memoryKeyLookup, memoryStorage } from 'fastify-recruiting-api/memory'
import { fromPrisma } from 'fastify-recruiting-api/postgres'
import { recordEvents, runCases, storageCases } from 'fastify-recruiting-api/testing'

const key = 'acme-secret-key'

test('a plain server answers, and its errors have their classes', async () => {
  const app = Fastify()
  await app.register(recruitingApi, {
    storage: memoryStorage({ tenants: { acme: { candidates: [{ id: 1, full_name: 'Ana Costa' }] } } }),
    keyLookup: memoryKeyLookup([{ key, tenantSlug: 'acme', scopes: ['candidates:read'] }])
  })
  try {
    const baseUrl = `${await app.listen({ port: 0, host: '127.0.0.1' })}/api/v1/public`
    const client = createClient({ baseUrl, tenantSlug: 'acme', key })
    expect(await client.candidates.find(1)).toMatchObject({ full_name: 'Ana Costa' })
    const stranger = createClient({ baseUrl, tenantSlug: 'acme', key: 'wrong' })
    await expect(stranger.candidates.find(1)).rejects.toThrow(ApiError)
    const type = 'application.eaten' as 'application.created'
    const error: unknown = await app.recruiting.emit({ tenantSlug: 'acme', type, data: { id: 1 } }).catch(Object)
    expect(error).toBeInstanceOf(RecruitingApiError)
    expect(isRecruitingApiError(error)).toBe(true)
  } finally {
    await app.close()
  }
})

test('the recorder, the conformance kit and the PostgreSQL adapter load', async () => {
  expect(typeof fromPrisma).toBe('function')
  expect(typeof recordEvents).toBe('function')
  const cases = storageCases.filter(({ group }) => group === 'tenancy')
  const results = await runCases(cases, () => ({ storage: memoryStorage(), saveCandidates () {}, saveJobs () {} }))
  expect(results.filter(({ error }) => error !== null)).toEqual([])
})

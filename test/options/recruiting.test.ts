import { Type } from '@sinclair/typebox'
import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { candidatesFrom, jobsFrom, memoryStorage } from '../../src/storages/memory/index.js'
import {
  assertAccepted, assertAcceptedByPlugin, assertRejected, assertRejectedByPlugin, type RejectedOption
} from '../fixtures/rejected-option.js'
import { buildApp } from '../fixtures/api/app.js'
import { captureLogs } from '../fixtures/api/logs.js'

t.test('createRecruiting requires an object', async (t) => {
  for (const [value, shown] of [[undefined, 'undefined'], [null, 'null'], ['acme', '"acme"']] as const) {
    t.throws(() => createRecruiting(value as never), {
      name: 'RecruitingApiError', code: 'invalid_option', field: 'options', message: `options: expected an object, got ${shown}`
    })
  }
})

t.test('a schema that cannot be compiled is rejected with the reason', async (t) => {
  await assertRejected(t, [
    { events: { 'job.created': { type: 'object', properties: { id: { type: 'int' } } } } },
    'events["job.created"]',
    'a valid schema (schema is invalid: data/properties/id/type must be equal to one of the allowed values, data/properties/id/type must be array, data/properties/id/type must match a schema in anyOf)',
    'an object'
  ])
})

t.test('event and field schemas with examples that JSON cannot represent are rejected', async (t) => {
  const circle: { self?: object } = {}
  circle.self = circle
  const cases: Array<[example: unknown, reason: RegExp]> = [
    [1n, /\(JSON cannot represent "0", of type bigint\)/],
    [{ id: 1n }, /\(JSON cannot represent "id", of type bigint\)/],
    [() => 1, /\(JSON cannot represent "0", of type function\)/],
    [Symbol('id'), /\(JSON cannot represent "0", of type symbol\)/],
    [undefined, /\(JSON cannot represent "0", of type undefined\)/],
    [Number.NaN, /\(JSON cannot represent "0", NaN\)/],
    [circle, /\(Converting circular structure to JSON/]
  ]
  for (const [example, reason] of cases) {
    const inside = Type.Object({ id: Type.Unknown({ examples: [example] }) })
    for (const [options, field] of [
      [{ events: { 'job.created': Type.Object({}, { examples: [example] }) } }, 'events["job.created"]'],
      [{ events: { 'job.created': inside } }, 'events["job.created"]'],
      [{ jobFields: inside }, 'jobFields']
    ] as const) {
      const error = t.throws(() => createRecruiting({ storage: memoryStorage(), ...options }), { code: 'invalid_option', field })
      t.match(String(error), reason)
    }
  }
  await assertAccepted(t, { events: { 'job.created': { ...Type.Object({}, { examples: [{ id: 1, name: undefined }] }), description: undefined } } })
})

t.test('a schema that throws a non-error is rejected with the thrown value', async (t) => {
  const thrown: unknown = 'no error at all'
  const schema = { type: 'object', get properties () { throw thrown } }
  await assertRejected(t, [{ events: { 'job.created': schema } }, 'events["job.created"]', 'a valid schema (no error at all)', 'an object'])
})

t.test('a field schema with an unresolvable $ref fails the registration, not each request', async (t) => {
  const candidateFields = Type.Object({ address: Type.Unsafe({ $ref: '#/$defs/Address' }) }, { $defs: { Address: { type: 'string' } } })
  await t.rejects(buildApp(t, { candidateFields }), /Address/)
})

const all = { candidate: 'string', job: 'string', source: 'string', recruiter: 'string' } as const

const rejected: RejectedOption[] = [
  [{ ids: null }, 'ids', 'an object', 'null'],
  [{ ids: 'string' }, 'ids', 'an object', '"string"'],
  [{ ids: ['candidate'] }, 'ids', 'an object', 'an array'],
  [{ ids: { candidates: 'string' } }, 'ids.candidates', 'a known name such as candidate', '"candidates"'],
  [{ ids: { ...all, webhook: 'string' } }, 'ids.webhook', 'a known name such as job', '"webhook"'],
  [{ ids: { recruter: 'string' } }, 'ids.recruter', 'a known name such as recruiter', '"recruter"'],
  [{ ids: { candidate: 'uuid' } }, 'ids.candidate', "'integer' or 'string'", '"uuid"'],
  [{ ids: { ...all, source: 'String' } }, 'ids.source', "'integer' or 'string'", '"String"'],
  [{ ids: { job: null } }, 'ids.job', "'integer' or 'string'", 'null'],
  [{ ids: { job: String } }, 'ids.job', "'integer' or 'string'", 'a function']
]

t.test('ids must be integer or string per kind, in the plugin and in the storage', async (t) => {
  for (const option of rejected) {
    await assertRejectedByPlugin(t, option)
    await assertRejected(t, option)
    const [options, field, expected, shown] = option
    const error = { code: 'invalid_option', field, message: `${field}: expected ${expected}, got ${shown}` }
    const readCandidates = (given: object) => candidatesFrom(() => [], given)
    const readJobs = (given: object) => jobsFrom(() => [], given)
    for (const read of [memoryStorage, readCandidates, readJobs]) {
      t.throws(() => read(options), error, field)
    }
  }
  t.throws(() => jobsFrom(() => [], { id: all } as object), { field: 'id', message: /such as ids/ })
  for (const ids of [undefined, {}, all, { candidate: 'integer' }, { job: 'string', source: undefined }]) {
    await assertAcceptedByPlugin(t, { ids, storage: memoryStorage({ ids } as object) })
    await assertAccepted(t, { ids })
  }
})

t.test("a memoryStorage whose ids differ from the plugin's fails the registration", async (t) => {
  for (const name of ['candidate', 'job', 'source', 'recruiter'] as const) {
    const one = { [name]: 'string' } as const
    const error = { code: 'storage_not_ready', field: `ids.${name}` }
    await t.rejects(buildApp(t, { storage: memoryStorage(), ids: one }), {
      ...error, message: `memoryStorage has ids.${name} 'integer', and the plugin 'string': set the same option ids for both`
    })
    await t.rejects(buildApp(t, { storage: memoryStorage({ ids: one }), ids: {} }), {
      ...error, message: `memoryStorage has ids.${name} 'string', and the plugin 'integer': set the same option ids for both`
    })
    await t.resolves(buildApp(t, { storage: memoryStorage({ ids: one }), ids: one }))
  }
})

t.test("the host's own sources on a memoryStorage have their own ids", async (t) => {
  const candidates = candidatesFrom(() => [], { ids: all })
  const jobs = jobsFrom(() => [], { ids: all })
  await assertAcceptedByPlugin(t, { storage: { ...memoryStorage(), candidates, jobs }, ids: all })
  await assertAcceptedByPlugin(t, { storage: { ...memoryStorage(), candidates }, ids: { ...all, job: 'integer' } })
})

const ids = { candidate: 'integer', job: 'integer', source: 'integer', recruiter: 'integer' }
const none = { candidates: [], jobs: [] }
const listed = { candidates: ['id', 'full_name', 'headline', 'source_id'], jobs: ['id', 'name', 'status'], ids, filters: none, hasTenantIds: false }

t.test('verify gets the published fields and filters, the kinds of ids, and whether tenants have ids', async (t) => {
  const asked: unknown[] = []
  const storage = { ...memoryStorage(), async verify (published: unknown) { asked.push(published); return [] } }
  await buildApp(t, { storage })
  const candidateFields = Type.Object({ email: Type.String() })
  const jobFields = Type.Object({ city: Type.String() })
  await buildApp(t, { storage, candidateFields, jobFields, jobFilters: { city: ['equals', 'sort'] } })
  await buildApp(t, { storage, ids: { job: 'string', recruiter: 'string' } })
  await buildApp(t, { storage, tenantId: () => 42 })
  const engine = createRecruiting({ storage })
  await engine.close()
  const filters = { candidates: [], jobs: [{ field: 'city', type: 'text', uses: ['equals', 'sort'] }] }
  t.strictSame(asked, [
    listed,
    { candidates: [...listed.candidates, 'email'], jobs: [...listed.jobs, 'city'], ids, filters, hasTenantIds: false },
    { ...listed, ids: { ...ids, job: 'string', recruiter: 'string' } },
    { ...listed, hasTenantIds: true },
    null
  ])
})

t.test('registration fails if the storage is not ready', async (t) => {
  const storage = { ...memoryStorage(), verify: async () => { throw new Error('run the migrations') } }
  await t.rejects(buildApp(t, { storage }), { message: 'run the migrations' })
})

t.test('createRecruiting logs that the storage is not ready, and keeps trying', async (t) => {
  const storage = { ...memoryStorage(), verify: async () => { throw new Error('run the migrations') } }
  const errors: object[] = []
  const engine = createRecruiting({
    storage, logger: { info () {}, warn () {}, error: (fields, message) => { errors.push({ ...fields, message }) } }
  })
  await engine.drain()
  await engine.close()
  t.match(errors, [{ err: { message: 'run the migrations' }, message: 'the storage is not ready' }])
})

t.test('warnings from verify are logged', async (t) => {
  const logs = captureLogs()
  await buildApp(t, { storage: { ...memoryStorage(), verify: async () => ['an index is missing'] }, server: { logger: logs.logger } })
  t.match(logs.lines.find(({ msg }) => msg === 'an index is missing'), { level: 40 })
})

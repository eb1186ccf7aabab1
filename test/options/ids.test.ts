import t from 'tap'
import Fastify from 'fastify'
import { type IdKinds, type RecruitingApiOptions, createRecruiting, recruitingApi } from '../../src/index.js'
import { candidatesFrom, jobsFrom, memoryStorage } from '../../src/memory/index.js'
import { type RefusedOption, assertAccepted, assertAcceptedByPlugin, assertRefused, assertRefusedByPlugin } from '../fixtures/refused-option.js'

const all = { candidate: 'string', job: 'string', source: 'string', recruiter: 'string' } as const

const refused: RefusedOption[] = [
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

t.test('ids says integer or string for each kind of id, and nothing else', async (t) => {
  for (const option of refused) {
    await assertRefusedByPlugin(t, option)
    await assertRefused(t, option)
  }
  for (const ids of [undefined, {}, all, { candidate: 'integer' }, { job: 'string', source: undefined }]) {
    await assertAcceptedByPlugin(t, { ids, storage: memoryStorage({ ids } as object) })
    await assertAccepted(t, { ids })
  }
})

t.test('createRecruiting takes it without the options of the plugin', async (t) => {
  const recruiting = createRecruiting({ storage: memoryStorage({ ids: all }), ids: all, delivery: false })
  t.match(await recruiting.emit({ tenantSlug: 'acme', type: 'job.created', data: { id: 'a' } }), { deliveries: 0 })
  await recruiting.close()
})

t.test('the storage in memory and the helpers for rows read it in the same way', async (t) => {
  for (const [options, field, expected, shown] of refused) {
    const error = { code: 'invalid_option', field, message: `${field}: expected ${expected}, got ${shown}` }
    t.throws(() => memoryStorage(options), error, field)
    t.throws(() => candidatesFrom(() => [], options), error, field)
    t.throws(() => jobsFrom(() => [], options), error, field)
  }
  t.throws(() => jobsFrom(() => [], { id: all } as object), { field: 'id', message: /such as ids/ })
})

t.test('a storage in memory whose ids differ from those of the plugin is refused at registration', async (t) => {
  async function register (storage: RecruitingApiOptions['storage'], ids: Partial<IdKinds>): Promise<void> {
    const app = Fastify()
    app.register(recruitingApi, { storage, keyLookup: async () => null, ids })
    try {
      await app.ready()
    } finally {
      await app.close()
    }
  }
  for (const name of ['candidate', 'job', 'source', 'recruiter'] as const) {
    const one = { [name]: 'string' } as const
    const error = { code: 'storage_not_ready', field: `ids.${name}` }
    await t.rejects(register(memoryStorage(), one), {
      ...error, message: `memoryStorage has ids.${name} 'integer', and the plugin 'string': give both the same option ids`
    })
    await t.rejects(register(memoryStorage({ ids: one }), {}), {
      ...error, message: `memoryStorage has ids.${name} 'string', and the plugin 'integer': give both the same option ids`
    })
    await t.resolves(register(memoryStorage({ ids: one }), one))
  }
})

t.test('sources of the host beside a storage in memory have their own ids', async (t) => {
  const candidates = candidatesFrom(() => [], { ids: all })
  const jobs = jobsFrom(() => [], { ids: all })
  await assertAcceptedByPlugin(t, { storage: { ...memoryStorage(), candidates, jobs }, ids: all })
  await assertAcceptedByPlugin(t, { storage: { ...memoryStorage(), candidates }, ids: { ...all, job: 'integer' } })
})

import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { Type as NewType } from 'typebox'
import recruitingApi, { type ApiKey, type AuditEntry, type RecruitingApiOptions } from '../../../src/index.js'
import { memoryKeyLookup, memoryStorage } from '../../../src/memory/index.js'
import { allScopes, bearer, tenants } from '../../fixtures/api/app.js'

const base = '/api/v1/public/acme'
const every = { tenantSlug: 'acme', scopes: allScopes }
const keyLookup = memoryKeyLookup([
  { ...every, key: 'full' },
  { ...every, key: 'headlines', candidateFields: ['headline'], jobFields: ['status'] },
  { ...every, key: 'ids', candidateFields: [], jobFields: [] },
  { ...every, key: 'names', candidateFields: ['full_name', 'id', 'nothing', '__proto__', 'constructor'] }
])

/** Without the check of answers: the document requires every field. */
async function build (t: Test, options: Partial<RecruitingApiOptions> = {}): Promise<FastifyInstance> {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(recruitingApi, { storage: memoryStorage({ tenants }), keyLookup, delivery: false, errorDetails: true, ...options })
  return app
}

const get = (app: FastifyInstance, key: string, path: string) => app.inject({ url: `${base}/${path}`, headers: bearer(key) })

t.test('a key sees only its fields, in every answer that has rows', async (t) => {
  const app = await build(t)
  const data = async (key: string, path: string) => (await get(app, key, path)).json().data
  t.strictSame(await data('headlines', 'candidates'), [{ id: 1, headline: 'Analyst' }, { id: 2, headline: null }, { id: 3, headline: 'Logician' }])
  t.strictSame(await data('headlines', 'candidates/1'), { id: 1, headline: 'Analyst' })
  t.strictSame(await data('headlines', 'jobs'), [{ id: 1, status: 'published' }, { id: 2, status: 'draft' }])
  t.strictSame(await data('headlines', 'jobs/2'), { id: 2, status: 'draft' })
  t.strictSame(await data('headlines', 'candidates/sync?per_page=1'), [{ id: 1, deleted: false, candidate: { id: 1, headline: 'Analyst' } }])
  t.strictSame(await data('headlines', 'jobs/sync?per_page=1'), [{ id: 1, deleted: false, job: { id: 1, status: 'published' } }])
  t.strictSame(await data('ids', 'candidates/2'), { id: 2 })
  t.strictSame(await data('names', 'candidates/2'), { id: 2, full_name: 'Grace Hopper' })
  t.strictSame(await data('names', 'jobs/2'), { id: 2, name: 'Cryptanalyst', status: 'draft' }, 'a limit of one resource is none of the other')
})

t.test('a row may lack a field that is optional in either TypeBox', async (t) => {
  const keys = memoryKeyLookup([{ ...every, key: 'emails', candidateFields: ['full_name', 'email'] }])
  for (const either of [Type, NewType as unknown as typeof Type]) {
    const app = await build(t, { keyLookup: keys, candidateFields: either.Object({ email: either.Optional(either.String()) }) })
    const { statusCode, body } = await get(app, 'emails', 'candidates/2')
    t.strictSame([statusCode, JSON.parse(body)], [200, { data: { id: 2, full_name: 'Grace Hopper' } }])
  }
})

t.test('a deleted row in a sync stays null', async (t) => {
  const app = await build(t)
  const { meta } = (await get(app, 'headlines', 'candidates/sync')).json()
  await app.recruiting.changed({ tenantSlug: 'acme', kind: 'candidate', id: 99, deleted: true })
  t.strictSame((await get(app, 'headlines', `candidates/sync?token=${meta.next_token}`)).json().data, [{ id: 99, deleted: true, candidate: null }])
})

t.test('a limited answer is the full one without the other fields, with its headers', async (t) => {
  const app = await build(t)
  const [full, limited] = await Promise.all(['full', 'headlines'].map((key) => get(app, key, 'candidates?per_page=2&sort=-id')))
  t.strictSame(limited?.json().meta, full?.json().meta)
  t.equal(limited?.headers.link, full?.headers.link)
  t.equal(limited?.headers['content-type'], full?.headers['content-type'])
  t.equal(Number(limited?.headers['content-length']), limited?.rawPayload.length)
  const head = await app.inject({ method: 'HEAD', url: `${base}/candidates?per_page=2&sort=-id`, headers: bearer('headlines') })
  t.strictSame([head.statusCode, head.body, head.headers['content-length']], [200, '', limited?.headers['content-length']])
})

t.test('a field that the key does not see cannot be filtered or sorted by', async (t) => {
  const app = await build(t, { candidateFields: Type.Object({ recruiter_id: Type.Integer(), updated_at: Type.String() }) })
  for (const [path, field, hidden] of [
    ['candidates?filter[q]=ada', 'filter[q]', 'full_name'],
    ['candidates?filter[q]=', 'filter[q]', 'full_name'],
    ['candidates?filter[recruiter_id]=11', 'filter[recruiter_id]', 'recruiter_id'],
    ['candidates?filter[updated_after]=2026-01-01T00:00:00Z', 'filter[updated_after]', 'updated_at'],
    ['candidates?sort=full_name', 'sort', 'full_name'],
    ['candidates?sort=id,-full_name', 'sort', 'full_name'],
    ['candidates?sort=-updated_at', 'sort', 'updated_at'],
    ['jobs?filter[q]=comp', 'filter[q]', 'name'],
    ['jobs?sort=-name,status', 'sort', 'name']
  ] as const) {
    const answer = await get(app, 'headlines', path)
    t.equal(answer.statusCode, 400, path)
    t.strictSame(answer.json().error.details, [{ in: 'query', field, message: `the API key does not see the field ${hidden}` }])
    t.equal((await get(app, 'full', path)).statusCode, 200)
  }
  for (const path of ['candidates?sort=-id', 'candidates?sort=created_at', 'jobs?filter[status]=draft&sort=status', 'jobs?filter[updated_after]=2026-01-01T00:00:00Z']) {
    t.equal((await get(app, 'headlines', path)).statusCode, 200, path)
  }
  t.equal((await get(app, 'ids', 'jobs?filter[status]=draft')).statusCode, 400)
})

t.test('the audit counts the rows, and errors are as ever', async (t) => {
  const entries: AuditEntry[] = []
  const app = await build(t, { onAudit: (entry) => { entries.push(entry) } })
  await get(app, 'headlines', 'candidates')
  t.match(entries, [{ rowCount: 3, status: 200 }])
  t.equal((await get(app, 'headlines', 'candidates/77')).statusCode, 404)
  t.equal((await get(app, 'headlines', 'candidates?page=0')).statusCode, 400)
})

t.test('a row without a published field is a 500 for the keys that see it', async (t) => {
  const storage = memoryStorage({ tenants })
  storage.jobs.find = async () => ({ id: 1, status: 'draft' }) as never
  const app = await build(t, { storage })
  for (const [key, status] of [['full', 500], ['names', 500], ['headlines', 200], ['ids', 200]] as const) t.equal((await get(app, key, 'jobs/1')).statusCode, status, key)
})

t.test('large integers keep their digits', async (t) => {
  const storage = memoryStorage({ tenants })
  storage.jobs.find = async () => ({ id: 1, name: '', status: 'draft', salary: 12345678901234567890n }) as never
  const keys = memoryKeyLookup([{ ...every, key: 'salaries', jobFields: ['salary'] }])
  const app = await build(t, { storage, keyLookup: keys, jobFields: Type.Object({ salary: Type.Integer() }) })
  t.equal((await get(app, 'salaries', 'jobs/1')).body, '{"data":{"id":1,"salary":12345678901234567890}}')
})

t.test('more lists of fields than are remembered still count', async (t) => {
  let fields: string[] = []
  const app = await build(t, { keyLookup: () => ({ id: 'key', scopes: allScopes, jobFields: fields }) })
  for (let at = 0; at < 105; at++) {
    fields = [`field_${at}`]
    t.strictSame((await get(app, 'any', 'jobs/1')).json().data, { id: 1 })
  }
  fields = ['name']
  t.strictSame((await get(app, 'any', 'jobs/1')).json().data, { id: 1, name: 'Compiler Engineer' })
})

t.test('fields of a lookup that are not names are a 500', async (t) => {
  for (const wrong of [{ candidateFields: 'full_name' }, { jobFields: [5] }, { candidateFields: {} }]) {
    const app = await build(t, { keyLookup: () => ({ id: 'key_1', scopes: allScopes, ...wrong }) as unknown as ApiKey })
    t.equal((await get(app, 'any', 'jobs')).statusCode, 500, JSON.stringify(wrong))
  }
})

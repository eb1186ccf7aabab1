import { type TSchema, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { Type as NewType } from 'typebox'
import t, { type Test } from 'tap'
import type { AuditEntry, IdKinds } from '../../src/index.js'
import type { RowFields } from '../../src/core/ports/index.js'
import { memoryKeyLookup, memoryStorage } from '../../src/storages/memory/index.js'
import { type AppOverrides, allScopes, bearer, buildApp, keys, tenants } from '../fixtures/api/app.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'
import { checkError } from '../fixtures/api/answers.js'
import { captureLogs } from '../fixtures/api/logs.js'

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

t.test('an own field can have a number as its name', async (t) => {
  const named = memoryStorage({ tenants: { acme: { candidates: [{ id: 1, full_name: 'Ada', 2024: 'hired' }] } } })
  const app = await buildApp(t, { storage: named, candidateFields: Type.Object({ 2024: Type.String() }) })
  for (const path of ['/candidates', '/candidates/1', '/candidates/sync']) {
    const answer = await app.inject({ url: `${base}${path}`, headers: bearer(keys.full) })
    t.match(JSON.stringify(answer.json()), /"2024":"hired"/, path)
  }
})

t.test('an item has only the declared fields, even if the row has more', async (t) => {
  const declared = {
    candidateFields: Type.Object({ email: Type.String(), salary: Type.Object({ amount: Type.Integer() }) }),
    jobFields: Type.Object({ department: Type.String() })
  }
  const candidate = { id: 1, full_name: 'Ada Lovelace', headline: null, source_id: null }
  const job = { id: 1, name: 'Analyst', status: 'published' }
  for (const [fields, candidates, jobs] of [
    [{}, [candidate], [job]],
    [
      declared,
      [{ ...candidate, email: 'canary@example.com', salary: { amount: 1 } }],
      [{ ...job, department: 'canary' }]
    ]
  ]) {
    const app = await buildApp(t, { storage, ...fields })
    for (const [list, data] of Object.entries({ candidates, jobs })) {
      const { body } = await app.inject({ url: `${base}/${list}`, headers: bearer(keys.full) })
      t.equal(body, JSON.stringify({ data, meta }))
    }
  }
})

t.test('the storage gets the published fields, for lists and single rows', async (t) => {
  const { storage: spied, calls } = spyStorage(storage)
  const own = Type.Object({ city: Type.Optional(Type.String()), floor: Type.Optional(Type.Integer()) })
  const app = await buildApp(t, { storage: spied, candidateFields: own, jobFields: own })
  for (const path of ['candidates', 'candidates/1', 'jobs', 'jobs/1']) {
    t.equal((await app.inject({ url: `${base}/${path}`, headers: bearer(keys.full) })).statusCode, 200, path)
  }
  const read = calls.filter(({ method }) => !method.endsWith('.count')).map(({ method, args }) => {
    const { fields, textFields } = args.at(-1) as { fields: string[], textFields: string[] }
    return [method, fields, textFields]
  })
  const candidate = [['id', 'full_name', 'headline', 'source_id', 'city', 'floor'], ['full_name', 'headline', 'city']]
  const job = [['id', 'name', 'status', 'city', 'floor'], ['name', 'status', 'city']]
  t.strictSame(read, [
    ['candidates.list', ...candidate], ['candidates.find', ...candidate], ['jobs.list', ...job], ['jobs.find', ...job]
  ])
})

t.test('webhooks and deliveries have only the documented fields, even if the row has more', async (t) => {
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
  // Notifications contain the tenant.
  t.notMatch(answers.map(({ payload }) => payload).join('').replace(JSON.stringify(body), ''), /canary|"secret"|"previous_secret"|tenant_slug/)
})

const headers = bearer(keys.full)

t.test('an id of the wrong type gets 500, and the log shows port, field and type, but not the value', async (t) => {
  const integer = "expected an integer up to 2^53-1: ids.candidate is 'integer'"
  const text = "expected a string of 1 to 64 visible ASCII characters without /: ids.candidate is 'string'"
  const problems: Array<[Partial<IdKinds>, string, unknown, string]> = [
    [{}, 'id', 'canary', `whose id is a string, ${integer}`],
    [{}, 'id', 1.5, `whose id is a number, ${integer}`],
    [{}, 'id', { canary: 1 }, `whose id is an object, ${integer}`],
    [{ candidate: 'string' }, 'id', 7, `whose id is a number, ${text}`],
    [{ candidate: 'string' }, 'id', 'canary/', `whose id is a string, ${text}`],
    [{}, 'source_id', 'canary', "whose source_id is a string, expected an integer up to 2^53-1: ids.source is 'integer'"],
    [{ source: 'string' }, 'source_id', 3, "whose source_id is a number, expected a string of 1 to 64 visible ASCII characters without /: ids.source is 'string'"]
  ]
  for (const [kinds, field, value, problem] of problems) {
    const logs = captureLogs()
    const storage = memoryStorage({ ids: kinds })
    const row = { id: kinds.candidate === 'string' ? 'a' : 1, full_name: 'canary', headline: null, source_id: null, [field]: value }
    storage.candidates.list = async () => [row] as never
    storage.candidates.find = async () => row as never
    const app = await buildApp(t, { ids: kinds, storage, server: { logger: logs.logger } })
    for (const [method, path] of [['list', 'candidates'], ['find', 'candidates/1']] as const) {
      logs.lines.length = 0
      const answer = await app.inject({ url: `${base}/${path}`, headers })
      checkError(t, answer, 500, problem)
      t.same(logs.lines.filter(({ level }) => level === 50).map(({ err }) => err?.message), [`candidates.${method} returned a row ${problem}`])
      t.notMatch(logs.text(), 'canary')
    }
  }
})

t.test('a number that the storage replaced with null breaks no page, but a stored null does', async (t) => {
  const numbers = Type.Array(Type.Integer({ minimum: 1 }), { uniqueItems: true })
  const best = Type.Unsafe({ oneOf: [Type.Number(), Type.String({ minLength: 1 })] })
  const candidateFields = Type.Object({ extra: Type.Object({ numbers, best }), score: Type.Number() })
  const base = { full_name: 'Ada', headline: null, source_id: null, recruiter_id: null, created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' }
  const rows = [
    { ...base, id: 1, extra: { numbers: [null, 2, null], best: null }, score: null },
    { ...base, id: 2, extra: { numbers: [1], best: 0.5 }, score: 3 }
  ]
  const storage = memoryStorage({ tenants: { acme: {} } })
  let replaced = ['extra', 'score']
  storage.candidates.list = async (_tenant, query) => {
    for (const field of replaced) (query as Partial<RowFields>).onInexactNumber?.('1', field)
    return structuredClone(rows) as never
  }
  const keyLookup = memoryKeyLookup([
    { key: 'full', tenantSlug: 'acme', scopes: allScopes },
    { key: 'limited', tenantSlug: 'acme', scopes: allScopes, candidateFields: ['extra', 'score'] }
  ])
  // The document does not show that a field with only a number can be null.
  const app = await buildApp(t, { storage, candidateFields, keyLookup, openapi: false })
  const read = (key: string) => app.inject({ url: '/api/v1/public/acme/candidates', headers: bearer(key) })
  for (const key of ['full', 'limited']) {
    const { statusCode, body } = await read(key)
    t.equal(statusCode, 200, body)
    t.strictSame(JSON.parse(body).data.map(({ extra, score }: Record<string, unknown>) => ({ extra, score })),
      rows.map(({ extra, score }) => ({ extra, score })), key)
  }
  for (const fields of [[], ['extra'], ['score']]) {
    replaced = fields
    for (const key of ['full', 'limited']) checkError(t, await read(key), 500, `${key} ${fields.join()}`)
  }
  const documented = await buildApp(t, { storage, candidateFields, keyLookup })
  const { components } = (await documented.inject('/api/v1/public/openapi.json')).json()
  const { extra, score } = components.schemas.Candidate.properties
  t.strictSame([extra.properties.numbers.items, score.type], [{ anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }] }, 'number'])
})

t.test('a value that does not match its schema gets 500 and is never converted', async (t) => {
  const number = Type.Number()
  const problems: Array<[TSchema, unknown, string]> = [
    [Type.String(), 42, 'value is a number, must be string'],
    [Type.String(), null, 'value is null, must be string'],
    [Type.String(), { canary: 1 }, 'value is an object, must be string'],
    [Type.String(), undefined, 'value is required'],
    [Type.Integer(), 1.5, 'value is a number, must be integer'],
    [Type.Integer(), null, 'value is null, must be integer'],
    [Type.Integer(), 2 ** 53, 'value is a number, must be <= 9007199254740991'],
    [number, 'canary', 'value is a string, must be number'],
    [number, Number.NaN, 'value is a number, must be number'],
    [Type.Boolean(), 'f', 'value is a string, must be boolean'],
    [Type.Array(number), null, 'value is null, must be array'],
    [Type.Array(number), [1, '2'], 'value[1] is a string, must be number'],
    [Type.Object({ format: number }), { format: 'canary' }, 'value.format is a string, must be number'],
    [Type.Literal('a'), 'canary', 'value is a string, must be equal to constant']
  ]
  for (const [schema, value, problem] of problems) {
    const logs = captureLogs()
    const storage = memoryStorage({ tenants })
    const row = { id: 1, full_name: 'canary', headline: null, source_id: null, ...value === undefined ? {} : { value } }
    storage.candidates.list = async () => [row]
    storage.candidates.find = async () => row
    Object.assign(storage.candidates, { listAfter: async () => [row] })
    const candidateFields = Type.Object({ value: schema })
    const app = await buildApp(t, { storage, candidateFields, server: { logger: logs.logger } })
    const paths = { list: 'candidates', find: 'candidates/1', listAfter: 'candidates/sync' }
    for (const [method, path] of Object.entries(paths)) {
      logs.lines.length = 0
      checkError(t, await app.inject({ url: `${base}/${path}`, headers }), 500, problem)
      const messages = logs.lines.filter(({ level }) => level === 50).map(({ err }) => err?.message)
      t.strictSame(messages, [`candidates.${method} returned a row whose ${problem}`])
      t.notMatch(logs.text(), 'canary')
    }
  }
})

const every = { tenantSlug: 'acme', scopes: allScopes }
const keyLookup = memoryKeyLookup([
  { ...every, key: 'full' },
  { ...every, key: 'headlines', candidateFields: ['headline'], jobFields: ['status'] },
  { ...every, key: 'ids', candidateFields: [], jobFields: [] },
  { ...every, key: 'names', candidateFields: ['full_name', 'id', 'nothing', '__proto__', 'constructor'] }
])

/** Not compared with the document, which requires every field. */
const build = (t: Test, options: AppOverrides = {}): Promise<FastifyInstance> =>
  buildApp(t, { keyLookup, errorDetails: true, openapi: false, ...options })

const get = (app: FastifyInstance, key: string, path: string) => app.inject({ url: `${base}/${path}`, headers: bearer(key) })

t.test('a key sees only its fields in every response with rows', async (t) => {
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
  t.strictSame(await data('names', 'jobs/2'), { id: 2, name: 'Cryptanalyst', status: 'draft' }, 'the limit of one resource does not apply to the other')
})

t.test('a new list of fields compiles nothing', async (t) => {
  const { Function: compile } = globalThis
  t.teardown(() => { globalThis.Function = compile })
  let compiled = 0
  globalThis.Function = new Proxy(compile, {
    construct (target, args) {
      compiled++
      return Reflect.construct(target, args)
    }
  })
  const names = ['full_name', 'headline', 'source_id']
  const lists = [names, ...names.flatMap((name) => [[name], names.filter((other) => other !== name).toReversed()])]
  const keyLookup = memoryKeyLookup(lists.map((candidateFields) => ({
    ...every, key: candidateFields.join('.'), candidateFields
  })))
  const app = await build(t, { keyLookup })
  const counts: number[] = []
  for (const list of lists) {
    for (const path of ['candidates', 'candidates/1', 'candidates/sync']) {
      t.equal((await get(app, list.join('.'), path)).statusCode, 200)
    }
    counts.push(compiled)
  }
  t.ok(compiled > 0)
  t.strictSame(new Set(counts), new Set([compiled]))
})

t.test('a row can lack a field that is optional in either TypeBox', async (t) => {
  const keys = memoryKeyLookup([{ ...every, key: 'emails', candidateFields: ['full_name', 'email'] }])
  for (const either of [Type, NewType as unknown as typeof Type]) {
    const candidateFields = either.Object({ email: either.Optional(either.String()) })
    const app = await build(t, { keyLookup: keys, candidateFields })
    const { statusCode, body } = await get(app, 'emails', 'candidates/2')
    t.strictSame([statusCode, JSON.parse(body)], [200, { data: { id: 2, full_name: 'Grace Hopper' } }])
  }
})

t.test('a limited response is the full one without the hidden fields, with the same headers', async (t) => {
  const app = await build(t)
  const [full, limited] = await Promise.all(['full', 'headlines'].map((key) => get(app, key, 'candidates?per_page=2&sort=-id')))
  t.strictSame(limited?.json().meta, full?.json().meta)
  t.equal(limited?.headers.link, full?.headers.link)
  t.equal(limited?.headers['content-type'], full?.headers['content-type'])
  t.equal(Number(limited?.headers['content-length']), limited?.rawPayload.length)
  const head = await app.inject({ method: 'HEAD', url: `${base}/candidates?per_page=2&sort=-id`, headers: bearer('headlines') })
  t.strictSame([head.statusCode, head.body, head.headers['content-length']], [200, '', limited?.headers['content-length']])
})

t.test('a key cannot sort by a field that it cannot see', async (t) => {
  const app = await build(t, { candidateFields: Type.Object({ updated_at: Type.String() }) })
  for (const [path, hidden] of [
    ['candidates?sort=full_name', 'full_name'],
    ['candidates?sort=id,-full_name', 'full_name'],
    ['candidates?sort=-updated_at', 'updated_at'],
    ['jobs?sort=-name,status', 'name']
  ] as const) {
    const answer = await get(app, 'headlines', path)
    t.equal(answer.statusCode, 400, path)
    const message = `the API key cannot read the field ${hidden}`
    t.strictSame(answer.json().error.details, [{ in: 'query', field: 'sort', message }])
    t.equal((await get(app, 'full', path)).statusCode, 200)
  }
  for (const path of ['candidates?sort=-id', 'candidates?sort=created_at', 'jobs?filter[status]=draft&sort=status', 'jobs?filter[updated_after]=2026-01-01T00:00:00Z']) {
    t.equal((await get(app, 'headlines', path)).statusCode, 200, path)
  }
})

t.test('the audit counts the rows, and errors are unchanged', async (t) => {
  const entries: AuditEntry[] = []
  const app = await build(t, { onAudit: (entry) => { entries.push(entry) } })
  await get(app, 'headlines', 'candidates')
  t.match(entries, [{ rowCount: 3, status: 200 }])
  t.equal((await get(app, 'headlines', 'candidates/77')).statusCode, 404)
  t.equal((await get(app, 'headlines', 'candidates?page=0')).statusCode, 400)
})

t.test('a row without a published field gets 500 for keys that see the field', async (t) => {
  const storage = memoryStorage({ tenants })
  storage.jobs.find = async () => ({ id: 1, status: 'draft' }) as never
  const app = await build(t, { storage })
  for (const [key, status] of [['full', 500], ['names', 500], ['headlines', 200], ['ids', 200]] as const) t.equal((await get(app, key, 'jobs/1')).statusCode, status, key)
})

t.test('rows are written as JSON.stringify writes them', async (t) => {
  const units = Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit))
  const texts = Array.from({ length: 128 }, (_, at) => units.slice(512 * at, 512 * (at + 1)).join(''))
  const rows = [...texts, '', '"', '\u{1f600}', 'é', 'a\ud800'].map((name, at) => ({
    id: at - 3,
    full_name: name,
    headline: at % 2 === 0 ? null : name,
    source_id: at % 3 === 0 ? null : 2 ** 53 - 1 - at,
    score: at === 0 ? -0 : at / 7e20,
    is_new: at % 2 === 0
  }))
  const memory = memoryStorage({ tenants })
  Object.assign(memory.candidates, { list: async () => rows, count: async () => rows.length })
  const candidateFields = Type.Object({ score: Type.Number(), is_new: Type.Boolean() })
  const app = await buildApp(t, { storage: memory, candidateFields })
  const { body } = await app.inject({ url: `${base}/candidates?per_page=200`, headers: bearer(keys.full) })
  t.equal(body, JSON.stringify({ data: rows, meta: { page: 1, per_page: 200, total: rows.length, total_pages: 1 } }))
})

t.test('a page with null in place of a row gets 500', async (t) => {
  const memory = memoryStorage({ tenants })
  Object.assign(memory.candidates, { list: async () => [null] })
  const app = await buildApp(t, { storage: memory })
  const { statusCode } = await app.inject({ url: `${base}/candidates`, headers: bearer(keys.full) })
  t.equal(statusCode, 500)
})

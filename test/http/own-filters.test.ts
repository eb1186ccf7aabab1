import { Type } from '@sinclair/typebox'
import t from 'tap'
import { memoryKeyLookup, memoryStorage } from '../../src/storages/memory/index.js'
import { allScopes, apiKeys, bearer, buildApp } from '../fixtures/api/app.js'
import { fetchIds, requestList } from '../fixtures/api/lists.js'
import { assertRejectedByPlugin, type RejectedOption } from '../fixtures/rejected-option.js'

const Time = Type.String({ format: 'date-time' })
const fields = Type.Object({
  email: Type.Union([Type.String(), Type.Null()]),
  rank: Type.Integer(),
  internal: Type.Optional(Type.Boolean()),
  // TypeBox 1.x writes enums without a type.
  level: Type.Unsafe<string | null>({ enum: ['junior', 'senior', null] }),
  started_at: Time,
  seen_at: Type.Union([Time, Type.Null()])
})
const options = {
  candidateFields: fields,
  jobFields: fields,
  candidateFilters: {
    email: ['equals'],
    rank: ['equals', 'sort'],
    internal: ['equals'],
    level: ['equals'],
    started_at: ['equals', 'after', 'sort'],
    seen_at: ['after']
  },
  jobFilters: { email: ['equals'] }
} as const

const people: Array<[email: string | null, rank: number, internal: boolean, started: string, seen: string | null]> = [
  ['ada@example.org', 3, true, '2026-01-01T00:00:00.000Z', null],
  ['Ada@example.org', 1, false, '2026-01-01T02:00:00+02:00', '2026-05-01T00:00:00Z'],
  [null, 2, true, '2026-01-01T01:00:00+02:00', '2026-07-01T00:00:00Z']
]
const candidates = people.map(([email, rank, internal, started, seen], index) => ({
  id: index + 1, full_name: 'Ada', email, rank, internal, level: internal ? 'senior' : null, started_at: started, seen_at: seen
}))
const jobs = [{ id: 1, name: 'Analyst', status: 'open', ...candidates[0], full_name: undefined }]
const storage = memoryStorage({ tenants: { acme: { candidates, jobs } } })
const keyLookup = memoryKeyLookup([...apiKeys, {
  key: 'blind', tenantSlug: 'acme', scopes: allScopes, candidateFields: ['full_name', 'rank']
}])

t.test('candidates are found by own fields', async (t) => {
  const app = await buildApp(t, { ...options, storage, keyLookup })
  const found: Array<[query: string, ids: number[]]> = [
    ['filter[email]=ada%40example.org', [1]], ['filter[email]=ada', []], ['filter[rank]=2', [3]],
    ['filter[level]=senior', [1, 3]], ['filter[level]=null', []], ['filter[internal]=true', [1, 3]], ['filter[internal]=false', [2]],
    ['filter[started_at]=2026-01-01T01:00:00%2B01:00', [1, 2]], ['filter[started_after]=2025-12-31T23:30:00Z', [1, 2]],
    ['filter[seen_after]=2026-06-01T00:00:00Z', [3]], ['filter[internal]=true&filter[rank]=3&filter[q]=ada', [1]],
    ['sort=rank', [2, 3, 1]], ['sort=-rank', [1, 3, 2]], ['sort=started_at,-id', [3, 2, 1]]
  ]
  for (const [query, ids] of found) t.strictSame(await fetchIds(app, 'candidates', query), ids, query)
  t.strictSame(await fetchIds(app, 'jobs', 'filter[email]=ada%40example.org'), [1])
  const { headers } = await requestList(app, 'candidates', 'filter[internal]=true&filter[email]=ada%40example.org')
  t.match(headers.link, 'page=1&filter%5Binternal%5D=true&filter%5Bemail%5D=ada%40example.org&per_page=25&sort=id>; rel="first"')
})

t.test('the document lists own filters and sorts', async (t) => {
  const app = await buildApp(t, { ...options, storage, keyLookup })
  const { paths } = (await app.inject('/api/v1/public/openapi.json')).json()
  const { parameters } = paths['/api/v1/public/{tenant_slug}/candidates'].get
  const described = (name: string): unknown => parameters.find((one: { name: string }) => one.name === name)
  t.match(described('filter[email]'), {
    in: 'query', required: false, schema: { type: 'string', minLength: 1, maxLength: 255 }
  })
  t.match(described('filter[internal]'), { schema: { type: 'boolean' } })
  t.match(described('filter[seen_after]'), { description: 'Only candidates whose `seen_at` is later than this time' })
  t.match(described('sort'), { description: /^up to 3 of id, full_name, created_at, updated_at, rank, started_at,/ })
  t.equal(described('filter[seen_at]'), undefined)
})

t.test('an invalid value of an own filter gets 400, which names its parameter', async (t) => {
  const app = await buildApp(t, { ...options, storage, keyLookup, errorDetails: true })
  const rejected: Array<[parameter: string, values: string[]]> = [
    ['filter[email]', ['', 'x'.repeat(256)]], ['filter[rank]', ['', 'x', '1.5', '9007199254740992']],
    ['filter[internal]', ['', '1', 'TRUE', 'null']],
    ['filter[seen_after]', ['', '2026-01-01', '0000-12-31T23:59:59Z', '9999-12-31T23:59:60Z']],
    ['filter[started_at]', ['now', '9999-12-31T23:59:60Z']], ['sort', ['email', 'internal', 'rank,-rank']],
    ['filter[seen_at]', ['2026-01-01T00:00:00Z']]
  ]
  for (const [parameter, values] of rejected) {
    for (const value of values) {
      const answer = await requestList(app, 'candidates', `${parameter}=${value}`)
      t.equal(answer.statusCode, 400, `${parameter}=${value}`)
      t.match(JSON.parse(answer.body).error.details, [{ in: 'query', field: parameter }], `${parameter}=${value}`)
    }
  }
  t.equal((await requestList(app, 'jobs', 'filter[rank]=1')).statusCode, 400, 'a filter of the other list')
})

t.test('a key cannot filter or sort by an own field that it cannot read', async (t) => {
  // Responses with some of the fields do not match the document.
  const app = await buildApp(t, { ...options, storage, keyLookup, openapi: false })
  const request = async (query: string) =>
    (await app.inject({ url: `/api/v1/public/acme/candidates?${query}`, headers: bearer('blind') }))
  for (const query of ['filter[email]=a', 'filter[seen_after]=2026-01-01T00:00:00Z', 'sort=id,-started_at']) {
    const { error: { request_id: _, ...hidden } } = (await request(query)).json()
    const { error: { request_id: __, ...unknown } } = (await request('filter[nothing]=a')).json()
    t.strictSame(hidden, unknown, query)
  }
  t.equal((await request('filter[rank]=1&sort=rank')).statusCode, 200)
})

const { candidates: { ownFilters: _, ...plain } } = storage
const field = 'a field of candidateFields, whose name has only letters, digits and _'
const rejected: RejectedOption[] = [
  [{ candidateFilters: ['email'] }, 'candidateFilters', 'an object with the names of fields', 'an array'],
  [{ candidateFilters: { email: 'equals' } }, 'candidateFilters.email', "an array of 'equals', 'after' or 'sort'", '"equals"'],
  [{ candidateFilters: { email: [] } }, 'candidateFilters.email', "an array of 'equals', 'after' or 'sort'", '"0 entries"'],
  [{ candidateFilters: { email: ['contains'] } }, 'candidateFilters.email[0]', "'equals' or 'after' or 'sort'", '"contains"'],
  [{ candidateFilters: { email: ['equals', 'equals'] } }, 'candidateFilters.email', 'different entries', '"equals,equals"'],
  [{ candidateFilters: { mail: ['equals'] } }, 'candidateFilters.mail', field, '"mail"'],
  [{ candidateFilters: { full_name: ['equals'] } }, 'candidateFilters.full_name', field, '"full_name"'],
  [{ candidateFields: Type.Object({ 'e-mail': Type.String() }), candidateFilters: { 'e-mail': ['equals'] } }, 'candidateFilters.e-mail', field, '"e-mail"'],
  ...[Type.Number(), Type.Array(Type.String()), Type.Union([Type.String(), Type.Integer()])].map((email) => [
    { candidateFields: Type.Object({ email }), candidateFilters: { email: ['equals'] } }, 'candidateFilters.email',
    'a field that is text, an integer, a boolean or a date-time', '"a field of another type"'
  ] satisfies RejectedOption),
  [{ candidateFilters: { rank: ['after'] } }, 'candidateFilters.rank', "'after' only for a field with the format date-time", '"integer"'],
  ...['email', 'internal'].map((name): RejectedOption =>
    [{ candidateFilters: { [name]: ['sort'] } }, `candidateFilters.${name}`, "'sort' only for a field that is required and never null", `"${name}"`]),
  ...[['q', 'equals'], ['recruiter_id', 'equals'], ['updated_at', 'after']].map(([name = '', use]): RejectedOption => [
    { candidateFields: Type.Object({ [name]: name === 'updated_at' ? Time : Type.String() }), candidateFilters: { [name]: [use] } },
    `candidateFilters.${name}`, 'filters that the list does not have yet', `"filter[${name.replace('_at', '_after')}]"`
  ]),
  [{ candidateFields: Type.Object({ created_at: Time }), candidateFilters: { created_at: ['sort'] } }, 'candidateFilters.created_at', "no 'sort': the list has it already", '"created_at"'],
  [{ candidateFilters: { rank: ['equals'] }, storage: { ...storage, candidates: plain } }, 'candidateFilters', 'storage.candidates with ownFilters', 'undefined'],
  [{ jobFilters: { email: ['equals'] }, jobFields: undefined }, 'jobFilters.email', field.replace('candidate', 'job'), '"email"']
]

t.test('invalid options are rejected', async (t) => {
  for (const [given, ...expected] of rejected) {
    const all = { candidateFields: fields, jobFields: fields, ...given }
    await assertRejectedByPlugin(t, [all, ...expected])
  }
})

import { type TObject, Type } from '@sinclair/typebox'
import t from 'tap'
import {
  type EventFilters, type EventType, type Failure, type FilterValue, noResponse, type Webhook
} from '../../../src/around/portal/page/api.js'
import {
  type DataFields, changesOf, checkDraft, draftsOf, explainRejection, fieldsOf,
  filtersFault, filtersOf, formatValues, optionsOf, readRejection, valuesOf
} from '../../../src/around/portal/page/draft.js'

const draft = {
  name: 'CRM',
  target_url: 'https://hooks.example/x',
  event_types: ['job.closed', 'job.created'],
  headers: [],
  filters: [],
  changed: '',
  contact: ''
}
const offered = new Set(draft.event_types)

t.test('a form is checked before it is sent', async (t) => {
  t.strictSame(checkDraft(draft, offered), {
    name: undefined,
    target_url: undefined,
    event_types: undefined,
    headers: undefined,
    filters: undefined,
    changed: undefined,
    contact: undefined
  })
  const [headers, filters] = [[{ name: 'X', value: '' }], [{ path: 'data.id', values: '' }]]
  t.strictSame(checkDraft({ name: ' ', target_url: ' ', event_types: [], headers, filters, changed: 'x'.repeat(65), contact: 'ops@' }, offered), {
    name: 'nameBlank',
    target_url: 'urlBlank',
    event_types: 'eventsNone',
    headers: 'headersIncomplete',
    filters: 'filtersIncomplete',
    changed: 'changedNames',
    contact: 'contactInvalid'
  })
  t.equal(checkDraft({ ...draft, event_types: ['job.gone'] }, offered).event_types, 'eventsGone')
  t.equal(
    checkDraft({ ...draft, event_types: ['job.gone'] }, offered, ['job.gone']).event_types,
    undefined,
    'a webhook keeps a retired type'
  )
  t.equal(checkDraft({ ...draft, event_types: ['job.gone'] }, null).event_types, undefined)
  const faults = {
    'hooks.example': 'urlInvalid',
    'https://hooks example/': 'urlInvalid',
    'https://hooks.example/a b': 'urlInvalid',
    'mailto:a@hooks.example': 'urlInvalid',
    'ftp://hooks.example': 'urlHttps',
    'https://user@hooks.example': 'urlParts',
    'https://:password@hooks.example': 'urlParts',
    'https://hooks.example/#': 'urlParts',
    ' https://hooks.example ': undefined,
    // Some vendors allow http in development.
    'http://localhost:3000': undefined
  }
  for (const [url, fault] of Object.entries(faults)) {
    t.equal(checkDraft({ ...draft, target_url: url }, offered).target_url, fault, url)
  }
})

t.test('the reason for a rejected URL is found if the URL shows it', async (t) => {
  const reasons = {
    'http://hooks.example': 'urlHttps',
    'https://10.0.0.1': 'urlPublic',
    'https://[::1]/': 'urlPublic',
    'https://intranet': 'urlPublic',
    'https://crm.internal': 'urlPublic',
    'https://hooks.example': undefined,
    'no address': undefined
  }
  for (const [url, reason] of Object.entries(reasons)) t.equal(explainRejection(url), reason, url)
})

t.test("errors are shown at their fields, in the page's language if the reason is known", async (t) => {
  const rejection = (details: Failure['details'], targetUrl = draft.target_url) => {
    const failure = { ...noResponse('network'), code: 'bad_request' as const, status: 400, details }
    return readRejection(failure, { ...draft, target_url: targetUrl }, (fault) => `own ${fault}`)
  }
  const none = {
    name: null, target_url: null, event_types: null, headers: null, filters: null, changed: null, contact: null
  }
  t.strictSame(rejection([]), none)
  t.strictSame(rejection([], 'http://hooks.example'), { ...none, target_url: 'own urlHttps' })
  const detail = (field: string) => ({ in: 'body' as const, field, message: `says ${field}` })
  t.strictSame(rejection([detail('target_url'), detail('event_types[1]'), detail('name'), detail('headers.Host'), detail('filters.data.id[0]')]), {
    name: 'says name',
    target_url: 'says target_url',
    event_types: 'says event_types[1]',
    headers: 'says headers.Host',
    changed: null,
    contact: null,
    filters: 'says filters.data.id[0]'
  })
  t.strictSame(rejection([detail('target_url')], 'http://hooks.example'), { ...none, target_url: 'own urlHttps' })
  t.strictSame(rejection([detail('name')], 'http://hooks.example'), { ...none, name: 'says name' })
  t.strictSame(readRejection(null, draft, String), {})
  t.strictSame(readRejection(noResponse('timeout'), { ...draft, target_url: 'http://x' }, String), {})
})

t.test('only changed fields are sent, and null if filters or the contact were removed', async (t) => {
  const filters = { 'data.stage': ['Offer'], 'data.job_id': [7] }
  const about = { id: 1, status: 'active', created_by: { type: 'code', id: null }, created_at: '', updated_at: '' } as const
  const webhook: Webhook = { ...draft, ...about, headers: null, filters, changed: null, contact: 'ops@example.com' }
  t.strictSame(changesOf({ ...draft, contact: ' ops@example.com ' }, webhook, { ...filters }), {})
  t.strictSame(changesOf(draft, webhook, { ...filters }), { contact: null })
  t.strictSame(changesOf({ ...draft, contact: 'ops@example.com' }, webhook, { 'data.stage': ['Offer'] }), { filters: { 'data.stage': ['Offer'] } })
  t.strictSame(changesOf({ ...draft, contact: 'ops@example.com' }, webhook, null), { filters: null })
  const typed = { ...draft, contact: 'ops@example.com', changed: ' stage_id, , notes,stage_id' }
  t.strictSame(changesOf(typed, webhook, filters), { changed: ['stage_id', 'notes'] })
  t.strictSame(changesOf({ ...draft, contact: 'ops@example.com' }, { ...webhook, changed: ['a'] }, filters), { changed: null })
  const faultOf = (changed: string) => checkDraft({ ...draft, changed }, null).changed
  t.strictSame([faultOf('x'.repeat(64)), faultOf('x'.repeat(65)), faultOf(Array.from({ length: 51 }, (_, n) => n).join())], [undefined, 'changedNames', 'changedNames'])
})

t.test("an event type has a description in the page's language, if the vendor provides one", async (t) => {
  const descriptions = { de: 'Stelle', 'de-CH': 'Stell' }
  const type: EventType = { name: 'job.new', description: 'A job', descriptions, schema: {}, example: null }
  t.strictSame(['en', 'de', 'de-AT', 'de-CH'].map((locale) => optionsOf([type], [], locale)[0]?.description), ['A job', 'Stelle', 'Stelle', 'Stell'])
})

const noFields: DataFields = new Map()
const read = (values: string, ...types: string[]): FilterValue[] => valuesOf({ path: 'data.x', values }, new Map([['data.x', new Set(types)]]), null)

t.test("values are read with their field's types, and quoted values are text", async (t) => {
  t.strictSame(read(' 7,Offer , true,null, -1.5,,"7" ,"a, b" ,1e3'), [7, 'Offer', true, null, -1.5, '7', 'a, b', 1000])
  t.strictSame(read('7, true, null, Offer', 'string'), ['7', 'true', null, 'Offer'])
  t.strictSame(read('7, true, Offer', 'string', 'number'), [7, 'true', 'Offer'])
  t.strictSame(read('7, true', 'number'), [7, true])
  t.strictSame(read('007, 1., "open, {"a":1}, [], "a" b, 12345678901234567890'), ['007', '1.', '"open', '{"a":1}', '[]', '"a" b', '12345678901234567890'])
  t.strictSame(read(String.raw`"say \"hi\"", "", "C:\dir"`), ['say "hi"', '', String.raw`"C:\dir"`])
  t.strictSame(read(' , '), [])
})

t.test('formatted filters are read as the same filters, in the same order', async (t) => {
  const filters: EventFilters = {
    'data.stage.name': ['Offer', 'a, b', ' x', '', '"q"', 'a"b', '7', 'true', 'null', 'line\nbreak', '007', 'Größe', '{}'],
    'data.job_id': [7, -1.5, 0, Number.MAX_SAFE_INTEGER],
    'data.flag': [true, false, null, 'yes']
  }
  t.equal(formatValues(filters['data.stage.name'] ?? []), String.raw`Offer, "a, b", " x", "", "\"q\"", "a\"b", "7", "true", "null", "line\nbreak", 007, Größe, {}`)
  const back = filtersOf(draftsOf(filters), noFields, null)
  t.strictSame(Object.entries(back ?? {}), Object.entries(filters))
  t.strictSame([draftsOf(null), filtersOf([], noFields, null), filtersOf([{ path: ' ', values: '' }], noFields, null)], [[], null, null])
})

t.test('an unchanged filter keeps its values, even if the schema differs', async (t) => {
  const before: EventFilters = { 'data.job_id': [7, '7'] }
  const fields = new Map([['data.job_id', new Set(['string'])]])
  const [draft = { path: '', values: '' }] = draftsOf(before)
  t.strictSame(filtersOf([draft], fields, before), before)
  t.strictSame(filtersOf([{ ...draft, values: '7, "7", 8' }], fields, before), { 'data.job_id': ['7', '7', '8'] })
  t.strictSame(Object.entries(filtersOf([{ path: ' constructor ', values: '7' }], fields, before) ?? {}), [['constructor', [7]]])
})

t.test('filters are checked before they are sent', async (t) => {
  const fault = (...filters: Array<[path: string, values: string]>) =>
    filtersFault(filters.map(([path, values]) => ({ path, values })))
  const numbers = (count: number): string => Array.from({ length: count }, (_, index) => index).join(',')
  t.equal(fault(['data.a', '1'], ['', ' '], [' data.a.b.c.d ', numbers(50)]), undefined)
  for (const [path, values] of [['data.a', ''], ['data.a', ' , '], ['', '1']] as const) t.equal(fault([path, values]), 'filtersIncomplete')
  for (const path of ['data', 'id', 'job_id', 'data.', 'data..a', 'data.a.b.c.d.e', `data.${'x'.repeat(65)}`, 'data.a\tb']) t.equal(fault([path, '1']), 'filtersPath', path)
  t.equal(fault(['data.a', '1'], ['data.a ', '2']), 'filtersTwice')
  t.equal(fault(['data.a', numbers(51)]), 'filtersMany')
})

/** Returns the fields of events with these schemas and their first examples. */
function offeredFilters (...schemas: TObject[]): Record<string, string[]> {
  const fields = fieldsOf(schemas.map((schema) => ({ schema, example: schema.examples?.[0] ?? null })))
  return Object.fromEntries([...fields].map(([path, types]) => [path, [...types]]))
}

t.test('filter fields and their types come from the event schemas', async (t) => {
  const person = Type.Object({ name: Type.String(), 'a.b': Type.String() })
  t.strictSame(offeredFilters(Type.Object({
    job_id: Type.Integer(),
    score: Type.Union([Type.Number(), Type.Null()]),
    stage: Type.Union([Type.Literal('offer'), Type.Literal('hired')]),
    level: Type.Unsafe({ enum: ['a', 1, null] }),
    fixed: Type.Unsafe({ const: true }),
    hired: Type.Unsafe({ type: ['boolean', 'null'] }),
    any: Type.Unknown(),
    tags: Type.Array(Type.String()),
    people: Type.Array(person),
    owner: Type.Union([person, Type.Null()]),
    other: Type.Object({}),
    a: Type.Object({ b: Type.Object({ c: Type.Object({ d: Type.String(), e: Type.Object({ f: Type.String() }) }) }) })
  })), {
    'data.job_id': ['number'],
    'data.score': ['number', 'null'],
    'data.stage': ['string'],
    'data.level': ['string', 'number', 'null'],
    'data.fixed': ['boolean'],
    'data.hired': ['boolean', 'null'],
    'data.any': [],
    'data.owner.name': ['string'],
    'data.a.b.c.d': ['string']
  })
})

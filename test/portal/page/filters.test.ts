import { type TObject, Type } from '@sinclair/typebox'
import t from 'tap'
import type { EventFilters, FilterValue } from '../../../src/portal/page/api.js'
import { type DataFields, draftsOf, fieldsOf, filtersFault, filtersOf, formatValues, groupValues, valuesOf } from '../../../src/portal/page/filters.js'

const noFields: DataFields = new Map()
const read = (values: string, ...types: string[]): FilterValue[] => valuesOf({ path: 'data.x', values }, new Map([['data.x', new Set(types)]]), null)

t.test('values are read by the types of their field; quotes make text', (t) => {
  t.strictSame(read(' 7,Offer , true,null, -1.5,,"7" ,"a, b" ,1e3'), [7, 'Offer', true, null, -1.5, '7', 'a, b', 1000])
  t.strictSame(read('7, true, null, Offer', 'string'), ['7', 'true', null, 'Offer'])
  t.strictSame(read('7, true, Offer', 'string', 'number'), [7, 'true', 'Offer'])
  t.strictSame(read('7, true', 'number'), [7, true])
  t.strictSame(read('007, 1., "open, {"a":1}, [], "a" b, 12345678901234567890'), ['007', '1.', '"open', '{"a":1}', '[]', '"a" b', '12345678901234567890'])
  t.strictSame(read(String.raw`"say \"hi\"", "", "C:\dir"`), ['say "hi"', '', String.raw`"C:\dir"`])
  t.strictSame(read(' , '), [])
  t.end()
})

t.test('what the form shows of filters is read as the same filters, in the same order', (t) => {
  const filters: EventFilters = {
    'data.stage.name': ['Offer', 'a, b', ' x', '', '"q"', 'a"b', '7', 'true', 'null', 'line\nbreak', '007', 'Größe', '{}'],
    'data.job_id': [7, -1.5, 0, Number.MAX_SAFE_INTEGER],
    'data.flag': [true, false, null, 'yes']
  }
  t.equal(formatValues(filters['data.stage.name'] ?? []), String.raw`Offer, "a, b", " x", "", "\"q\"", "a\"b", "7", "true", "null", "line\nbreak", 007, Größe, {}`)
  const back = filtersOf(draftsOf(filters), noFields, null)
  t.strictSame(Object.entries(back ?? {}), Object.entries(filters))
  t.strictSame([draftsOf(null), filtersOf([], noFields, null), filtersOf([{ path: ' ', values: '' }], noFields, null)], [[], null, null])
  t.end()
})

t.test('a filter of the webhook that was not edited keeps its values, whatever the schema says', (t) => {
  const before: EventFilters = { 'data.job_id': [7, '7'] }
  const fields = new Map([['data.job_id', new Set(['string'])]])
  const [draft = { path: '', values: '' }] = draftsOf(before)
  t.strictSame(filtersOf([draft], fields, before), before)
  t.strictSame(filtersOf([{ ...draft, values: '7, "7", 8' }], fields, before), { 'data.job_id': ['7', '7', '8'] })
  t.strictSame(Object.entries(filtersOf([{ path: ' constructor ', values: '7' }], fields, before) ?? {}), [['constructor', [7]]])
  t.end()
})

t.test('filters are checked before they are sent', (t) => {
  const fault = (...filters: Array<[path: string, values: string]>) => filtersFault(filters.map(([path, values]) => ({ path, values })))
  const numbers = (count: number): string => Array.from({ length: count }, (_, index) => index).join(',')
  t.equal(fault(['data.a', '1'], ['', ' '], [' data.a.b.c.d ', numbers(50)]), undefined)
  for (const [path, values] of [['data.a', ''], ['data.a', ' , '], ['', '1']] as const) t.equal(fault([path, values]), 'filtersIncomplete')
  for (const path of ['data', 'id', 'job_id', 'data.', 'data..a', 'data.a.b.c.d.e', `data.${'x'.repeat(65)}`, 'data.a\tb']) t.equal(fault([path, '1']), 'filtersPath', path)
  t.equal(fault(['data.a', '1'], ['data.a ', '2']), 'filtersTwice')
  t.equal(fault(['data.a', numbers(51)]), 'filtersMany')
  t.end()
})

/** The fields of events with these schemas and first examples. */
function offered (...schemas: TObject[]): Record<string, string[]> {
  const fields = fieldsOf(schemas.map((schema) => ({ schema, example: schema.examples?.[0] ?? null })))
  return Object.fromEntries([...fields].map(([path, types]) => [path, [...types]]))
}

t.test('fields are offered from the schemas of the events, with their types', (t) => {
  const person = Type.Object({ name: Type.String(), 'a.b': Type.String() })
  t.strictSame(offered(Type.Object({
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
  t.end()
})

t.test('where a schema names no fields, those of the example are offered', (t) => {
  const example = { id: 1, any: 'x', stage: { name: 'Offer', tags: ['a'] }, empty: {}, gone: null }
  t.strictSame(offered(Type.Object({}, { examples: [example] })), { 'data.id': ['number'], 'data.any': ['string'], 'data.stage.name': ['string'], 'data.gone': [] })
  t.strictSame(offered(Type.Object({ any: Type.Unknown(), stage: Type.Object({}), id: Type.Union([Type.String(), Type.Integer()]) }, { examples: [example] })), {
    'data.any': ['string'], 'data.stage.name': ['string'], 'data.id': ['string', 'number']
  })
  t.strictSame(offered(Type.Object({})), {})
  t.strictSame(offered(Type.Object({ id: Type.Integer() }), Type.Object({ id: Type.String(), name: Type.String() })), { 'data.id': ['number', 'string'], 'data.name': ['string'] })
  t.end()
})

t.test('values are shown by type, as they will be read', (t) => {
  t.strictSame(groupValues(['Offer', 7, null, 'a, b', true, 8]), [
    { type: 'number', values: '7, 8' }, { type: 'string', values: '"Offer", "a, b"' }, { type: 'boolean', values: 'true' }, { type: 'null', values: 'null' }
  ])
  t.strictSame(groupValues([]), [])
  t.end()
})

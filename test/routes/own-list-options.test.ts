import t from 'tap'
import { Type } from '@sinclair/typebox'
import { defineList } from '../../src/index.js'

const define = defineList as (item: unknown, options: unknown) => unknown
const Row = Type.Object({ id: Type.Integer() })

const names = 'an array of different names, one of them id'
const refused: Array<[options: unknown, field: string, expected: string, shown: string]> = [
  [undefined, 'options', 'an object', 'undefined'],
  [{ sort: ['id'], filter: {} }, 'filter', 'a known name such as filters', '"filter"'],
  [{}, 'sort', names, 'undefined'],
  [{ sort: 'id' }, 'sort', names, '"id"'],
  [{ sort: [] }, 'sort', names, 'an array'],
  [{ sort: ['name'] }, 'sort', names, 'an array'],
  [{ sort: ['id', 'id'] }, 'sort', names, 'an array'],
  [{ sort: ['id', 'a|b'] }, 'sort', names, 'an array'],
  [{ sort: ['id', 5] }, 'sort', names, 'an array'],
  [{ sort: ['id'], defaultSort: 'name' }, 'defaultSort', 'one of id, after a minus sign if it is descending', '"name"'],
  [{ sort: ['id', 'name'], defaultSort: 5 }, 'defaultSort', 'one of id, name, after a minus sign if it is descending', '5'],
  [{ sort: ['id'], filters: [] }, 'filters', 'an object', 'an array'],
  [{ sort: ['id'], filters: { 'a]': Type.String() } }, 'filters.a]', 'a name of letters, digits and _', '"a]"'],
  [{ sort: ['id'], filters: { open: Type.Boolean() } }, 'filters.open', 'a schema of text or integers', '"boolean"'],
  [{ sort: ['id'], filters: { score: Type.Number() } }, 'filters.score', 'a schema of text or integers', '"number"'],
  [{ sort: ['id'], filters: { stage: Type.Union([Type.Literal('a'), Type.Literal(1)]) } }, 'filters.stage', 'a schema of text or integers', 'an object'],
  [{ sort: ['id'], filters: { stage: null } }, 'filters.stage', 'a schema of text or integers', 'null'],
  [{ sort: ['id'], filters: { q: Type.Integer() } }, 'filters.q', 'a schema of text', '"integer"']
]

t.test('an invalid option of a list is refused by its name', async (t) => {
  for (const [options, field, expected, shown] of refused) {
    t.throws(() => define(Row, options), { code: 'invalid_option', field, message: `${field}: expected ${expected}, got ${shown}` }, field)
  }
  t.throws(() => define('Row', { sort: ['id'] }), { code: 'invalid_option', field: 'item', message: 'item: expected a schema, got "Row"' })
})

t.test('filters of text, of one of several texts and of integers are accepted', async (t) => {
  const filters = { q: Type.String(), stage: Type.Union([Type.Literal('applied'), Type.Literal('offer')]), job_id: Type.Optional(Type.Integer()) }
  const { properties } = defineList(Row, { sort: ['id'], filters }).query
  t.same(Object.keys(properties), ['page', 'per_page', 'sort', 'filter[q]', 'filter[stage]', 'filter[job_id]'])
})

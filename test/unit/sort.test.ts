import t from 'tap'
import { HttpError } from '../../src/index.js'
import { createSortParser } from '../../src/http/input/list-query.js'

t.test('a field that is not one of the list\'s never reaches a storage, whatever a schema lets through', async (t) => {
  const parse = createSortParser(['name', 'created_at'])
  t.same(parse('-name'), [{ field: 'name', direction: 'desc' }, { field: 'id', direction: 'desc' }])
  for (const sort of ['', 'id', 'name,secret', '-secret', '--name', '__proto__']) {
    t.throws(() => parse(sort), new HttpError('bad_request', [{ in: 'query', field: 'sort', message: 'must be up to 3 of name, created_at' }]), sort)
  }
})

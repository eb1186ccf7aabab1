import t from 'tap'
import { parseId } from '../../src/shared/ids.js'

t.test('text is read as an id of its kind', async (t) => {
  const integers: Array<[string, number | null]> = [
    ['7', 7], ['-7', -7], ['9007199254740991', Number.MAX_SAFE_INTEGER], ['9007199254740993', null], ['', null], ['1e3', null], [' 7', null], ['0x7', null], ['a', null]
  ]
  for (const [text, id] of integers) t.equal(parseId(text, 'integer'), id, text)
  for (const text of ['7', 'a', '0197f4c2-8a10-7d3e-9b51-6c2f8e1a4d70', '~'.repeat(64)]) t.equal(parseId(text, 'string'), text)
  for (const text of ['', 'a b', 'a/b', 'é', '\n', 'a\n', 'x'.repeat(65)]) t.equal(parseId(text, 'string'), null, JSON.stringify(text))
})

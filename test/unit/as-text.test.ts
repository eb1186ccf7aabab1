import t from 'tap'
import { formatValue, sendAsText } from '../../src/postgres/handles/handle.js'

t.test('a parameter that is cast goes as text', async (t) => {
  t.same(sendAsText('select $1::bigint, $2, $10::jsonb', [5, 6, 'c', 'd', 'e', 'f', 'g', 'h', 'i', null]), {
    text: 'select $1::text::bigint, $2, $10::text::jsonb',
    values: ['5', 6, 'c', 'd', 'e', 'f', 'g', 'h', 'i', null]
  })
})

t.test('a parameter that is also used without a cast goes as it is', async (t) => {
  const statement = { text: 'select $1::bigint + $1', values: [5] }
  t.same(sendAsText(statement.text, statement.values), statement)
})

t.test('texts, names and comments stay as they are', async (t) => {
  const text = 'select \'$1::a\', "$1::b", \'it\'\'s $1::c\' -- it\'s $1::d\n /* it\'s $1::e */'
  t.same(sendAsText(`${text}, $1::int`, [5]).text, `${text}, $1::text::int`)
})

t.test('an array is written as PostgreSQL reads it', async (t) => {
  t.equal(formatValue([]), '{}')
  t.equal(formatValue(['a', null, undefined, 'null', '', '"\\{},']), '{"a",null,null,"null","","\\"\\\\{},"}')
  t.equal(formatValue([[1, 2], [3, 9007199254740991n]]), '{{"1","2"},{"3","9007199254740991"}}')
  t.equal(formatValue(undefined), null)
})

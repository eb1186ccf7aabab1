import t from 'tap'
import { deepStrictEqual } from 'node:assert/strict'
import * as typebox from '@sinclair/typebox'
import { Candidate } from '../../src/index.js'
import { Type } from '../../src/core/shared/typebox.js'

/** Creates one schema of each kind. */
function makeSchemas (T: typeof Type): typebox.TSchema[] {
  const options = { description: 'text', examples: [1] }
  const text = T.String({ minLength: 1, ...options })
  const some = T.Object({ text, flag: T.Optional(T.Boolean(options)) }, { title: 'Some', additionalProperties: false })
  return [
    text,
    some,
    T.Array(T.Integer({ minimum: 1 }), { maxItems: 2 }),
    T.Literal('a', options),
    T.Literal(true),
    T.Null(options),
    T.Object({}),
    T.Object({ flag: T.Optional(T.Boolean()) }),
    T.Optional(T.Optional(text)),
    T.Partial(some, { minProperties: 1 }),
    T.Partial(some),
    T.Unknown(options),
    T.Unsafe<number>({ type: 'integer' }),
    T.Unsafe<string>(text)
  ]
}

t.test('schemas equal those of TypeBox, including its symbols', async () => {
  const [own, theirs] = [makeSchemas(Type), makeSchemas(typebox.Type as unknown as typeof Type)]
  deepStrictEqual(own, theirs)
  deepStrictEqual(own.map((schema) => JSON.stringify(schema)), theirs.map((schema) => JSON.stringify(schema)))
})

t.test('TypeBox\'s functions recognize the package\'s schemas', async (t) => {
  t.ok(typebox.KindGuard.IsObject(Candidate))
  const picked = typebox.Type.Composite([typebox.Type.Pick(Candidate, ['id']), typebox.Type.Object({ note: typebox.Type.String() })])
  t.same(picked.required, ['id', 'note'])
})

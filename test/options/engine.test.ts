import t from 'tap'
import { randomBytes } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import { createRecruiting, recruitingApi } from '../../src/index.js'
import { memoryKeyLookup, memoryStorage } from '../../src/memory/index.js'
import { assertAccepted, assertRefused } from '../fixtures/refused-option.js'

t.test('createRecruiting wants an object', async (t) => {
  for (const [value, shown] of [[undefined, 'undefined'], [null, 'null'], ['acme', '"acme"']] as const) {
    t.throws(() => createRecruiting(value as never), {
      name: 'RecruitingApiError', code: 'invalid_option', field: 'options', message: `options: expected an object, got ${shown}`
    })
  }
})

t.test('maxWebhooksPerTenant is a whole number from 1 to 10000', async (t) => {
  for (const [value, shown] of [[0, '0'], [-1, '-1'], [10_001, '10001'], [1.5, '1.5'], ['50', '"50"'], [null, 'null']] as const) {
    await assertRefused(t, [{ maxWebhooksPerTenant: value }, 'maxWebhooksPerTenant', 'an integer from 1 to 10000, or a function', shown])
  }
  await assertAccepted(t, { maxWebhooksPerTenant: 1 })
  await assertAccepted(t, { maxWebhooksPerTenant: 10_000 })
})

t.test('maxEventBytes is a whole number from 1024 to 16777216', async (t) => {
  for (const [value, shown] of [[1023, '1023'], [16_777_217, '16777217'], [1024.5, '1024.5'], ['262144', '"262144"'], [null, 'null']] as const) {
    await assertRefused(t, [{ maxEventBytes: value }, 'maxEventBytes', 'an integer from 1024 to 16777216', shown])
  }
  await assertAccepted(t, { maxEventBytes: 1024 })
  await assertAccepted(t, { maxEventBytes: 16_777_216 })
})

t.test('requireSubject is a boolean', async (t) => {
  for (const [value, shown] of [[1, '1'], ['yes', '"yes"'], [null, 'null']] as const) {
    await assertRefused(t, [{ requireSubject: value }, 'requireSubject', 'a boolean', shown])
  }
  await assertAccepted(t, { requireSubject: true })
})

t.test('events is a map with at least one event', async (t) => {
  const expected = 'a map from event names to TypeBox schemas'
  for (const [value, shown] of [[null, 'null'], ['job.created', '"job.created"'], [() => {}, 'a function']] as const) {
    await assertRefused(t, [{ events: value }, 'events', expected, shown])
  }
  await assertRefused(t, [{ events: {} }, 'events', 'at least one event', 'an object'])
})

t.test('descriptions of an event are texts by language', async (t) => {
  const path = 'events["job.created"].descriptions'
  const withDescriptions = (descriptions: unknown) => ({ events: { 'job.created': Type.Object({}, { descriptions }) } })
  await assertRefused(t, [withDescriptions('Stelle'), path, 'an object of descriptions by language', '"Stelle"'])
  await assertRefused(t, [withDescriptions({ 'no locale': 'Stelle' }), `${path}.no locale`, 'a language such as de or en-GB', '"no locale"'])
  await assertRefused(t, [withDescriptions({ 'de-at': 'Stelle' }), `${path}.de-at`, 'a language such as de or en-GB', '"de-at"'])
  await assertRefused(t, [withDescriptions({ de: 7 }), `${path}.de`, 'text', '7'])
  await assertAccepted(t, withDescriptions({ de: 'Stelle', 'de-AT': 'Stelle' }))
})

t.test('names of events are lower-case words separated by full stops, 100 characters at most', async (t) => {
  const malformed = [
    'created', 'Job.created', 'job.', '.created', 'job..created', 'job created', 'job-post.created', 'jöb.created', '', `job.${'x'.repeat(97)}`
  ]
  for (const name of malformed) {
    await assertRefused(t, [{ events: { [name]: Type.Object({}) } }, `events["${name}"]`, 'a name such as application.created', JSON.stringify(name)])
  }
  for (const name of ['job.created', 'a.b.c_d.e9', '0.0', `job.${'x'.repeat(96)}`]) {
    await assertAccepted(t, { events: { [name]: Type.Object({}) } })
  }
})

t.test('the schema of an event is that of an object', async (t) => {
  const path = 'events["job.created"]'
  const values = [[null, 'null'], [Type.String(), 'an object'], [{}, 'an object'], [{ type: 'object' }, 'an object'], [[], 'an array'], ['object', '"object"']] as const
  for (const [schema, shown] of values) {
    await assertRefused(t, [{ events: { 'job.created': schema } }, path, 'a TypeBox object schema', shown])
  }
})

t.test('a schema that cannot be compiled is refused with the reason', async (t) => {
  await assertRefused(t, [
    { events: { 'job.created': { type: 'object', properties: { id: { type: 'int' } } } } },
    'events["job.created"]',
    'a valid schema (schema is invalid: data/properties/id/type must be equal to one of the allowed values, data/properties/id/type must be array, data/properties/id/type must match a schema in anyOf)',
    'an object'
  ])
})

t.test('a schema with examples that JSON cannot represent is refused, of events and of fields', async (t) => {
  const circle: { self?: object } = {}
  circle.self = circle
  const cases: Array<[example: unknown, reason: RegExp]> = [
    [1n, /\(JSON cannot represent "0", of type bigint\)/],
    [{ id: 1n }, /\(JSON cannot represent "id", of type bigint\)/],
    [() => 1, /\(JSON cannot represent "0", of type function\)/],
    [Symbol('id'), /\(JSON cannot represent "0", of type symbol\)/],
    [undefined, /\(JSON cannot represent "0", of type undefined\)/],
    [Number.NaN, /\(JSON cannot represent "0", NaN\)/],
    [circle, /\(Converting circular structure to JSON/]
  ]
  for (const [example, reason] of cases) {
    const inside = Type.Object({ id: Type.Unknown({ examples: [example] }) })
    for (const [options, field] of [
      [{ events: { 'job.created': Type.Object({}, { examples: [example] }) } }, 'events["job.created"]'],
      [{ events: { 'job.created': inside } }, 'events["job.created"]'],
      [{ jobFields: inside }, 'jobFields']
    ] as const) {
      const error = t.throws(() => createRecruiting({ storage: memoryStorage(), ...options }), { code: 'invalid_option', field })
      t.match(String(error), reason)
    }
  }
  await assertAccepted(t, { events: { 'job.created': { ...Type.Object({}, { examples: [{ id: 1, name: undefined }] }), description: undefined } } })
})

t.test('a schema that throws what is no error is refused with that', async (t) => {
  const thrown: unknown = 'no error at all'
  const schema = { type: 'object', get properties () { throw thrown } }
  await assertRefused(t, [{ events: { 'job.created': schema } }, 'events["job.created"]', 'a valid schema (no error at all)', 'an object'])
})

t.test('secretKeys are keys of 32 bytes, and the message never shows one', async (t) => {
  const expected = 'a Buffer of 32 bytes'
  const keys: Array<[key: unknown, shown: string]> = [
    [randomBytes(31), '"31 bytes"'],
    [randomBytes(33), '"33 bytes"'],
    [Buffer.alloc(0), '"0 bytes"'],
    ['0123456789abcdef0123456789abcdef', '"string"'],
    [null, '"object"'],
    [undefined, '"undefined"'],
    [[1, 2, 3], '"object"']
  ]
  for (const [key, shown] of keys) {
    await assertRefused(t, [{ secretKeys: [randomBytes(32), key] }, 'secretKeys[1]', expected, shown])
  }
  await assertAccepted(t, { secretKeys: [] })
  await assertAccepted(t, { secretKeys: [randomBytes(32), new Uint8Array(32)] })
})

t.test('a field whose schema refers to nothing fails the registration, not each request', async (t) => {
  const candidateFields = Type.Object({ address: Type.Unsafe({ $ref: '#/$defs/Address' }) }, { $defs: { Address: { type: 'string' } } })
  const app = Fastify()
  t.teardown(() => app.close())
  app.register(recruitingApi, { storage: memoryStorage(), keyLookup: memoryKeyLookup([]), candidateFields })
  await t.rejects(async () => { await app.ready() }, /Address/)
})

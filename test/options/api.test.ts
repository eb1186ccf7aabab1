import { Type } from '@sinclair/typebox'
import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { memoryStorage } from '../../src/memory/index.js'
import { assertAccepted, assertAcceptedByPlugin, assertRefused, assertRefusedByPlugin } from '../fixtures/refused-option.js'

t.test('keyLookup is a function', async (t) => {
  for (const [value, shown] of [[undefined, 'undefined'], [null, 'null'], [{ lookup () {} }, 'an object'], ['key', '"key"']] as const) {
    await assertRefusedByPlugin(t, [{ keyLookup: value }, 'keyLookup', 'a function', shown])
  }
})

t.test('createRecruiting needs nothing of what only the plugin needs', async (t) => {
  const engine = createRecruiting({ storage: memoryStorage(), delivery: false })
  t.ok(engine)
  await engine.close()
})

t.test('prefix is a path', async (t) => {
  const values = ['', '/', 'api', '/api/', '//api', '/api//v1', '/api/:tenant', '/api/*', '/api v1', '/ä', '/api?x=1', '/api#x']
  for (const value of values) {
    await assertRefusedByPlugin(t, [{ prefix: value }, 'prefix', 'a path such as /api/v1/public', JSON.stringify(value)])
  }
  await assertRefusedByPlugin(t, [{ prefix: null }, 'prefix', 'a path such as /api/v1/public', 'null'])
  for (const prefix of ['/api', '/a/b/c/d', '/v1.0', '/~x_y-z']) await assertAcceptedByPlugin(t, { prefix })
})

for (const [option, taken] of [['candidateFields', ['id', 'full_name', 'headline', 'source_id']], ['jobFields', ['id', 'name', 'status']]] as const) {
  t.test(`${option} is a TypeBox object without the fields that there are already`, async (t) => {
    for (const [value, shown] of [[null, 'null'], [Type.String(), 'an object'], [{ type: 'object' }, 'an object'], [['email'], 'an array'], ['email', '"email"']] as const) {
      await assertRefusedByPlugin(t, [{ [option]: value }, option, 'a TypeBox object schema', shown])
    }
    for (const name of taken) {
      const fields = Type.Object({ email: Type.String(), [name]: Type.String() })
      await assertRefusedByPlugin(t, [{ [option]: fields }, `${option}.${name}`, 'a field that the contract does not have already', `"${name}"`])
    }
    await assertAcceptedByPlugin(t, { [option]: Type.Object({}) })
    await assertAcceptedByPlugin(t, { [option]: Type.Object({ email: Type.String() }) })
  })
}

t.test('errorDetails is true or false', async (t) => {
  for (const [value, shown] of [['true', '"true"'], [1, '1'], [null, 'null']] as const) {
    await assertRefusedByPlugin(t, [{ errorDetails: value }, 'errorDetails', 'a boolean', shown])
  }
  await assertAcceptedByPlugin(t, { errorDetails: true })
  await assertAcceptedByPlugin(t, { errorDetails: false })
})

for (const option of ['requestId', 'onAudit']) {
  t.test(`${option} is a function`, async (t) => {
    for (const [value, shown] of [['req_1', '"req_1"'], [7, '7'], [{}, 'an object']] as const) {
      await assertRefusedByPlugin(t, [{ [option]: value }, option, 'a function', shown])
    }
    await assertAcceptedByPlugin(t, { [option]: () => 'req_1' })
  })
}

t.test('routes is a Fastify plugin', async (t) => {
  for (const [value, shown] of [['routes', '"routes"'], [{}, 'an object'], [[], 'an array']] as const) {
    await assertRefusedByPlugin(t, [{ routes: value }, 'routes', 'a Fastify plugin', shown])
  }
  await assertAcceptedByPlugin(t, { routes: async () => {} })
  await assertAcceptedByPlugin(t, { routes: undefined })
})

t.test('the plugin refuses what the engine refuses', async (t) => {
  await assertRefusedByPlugin(t, [{ storage: null, keyLookup: null }, 'storage', 'an object', 'null'])
  await assertRefusedByPlugin(t, [{ events: {} }, 'events', 'at least one event', 'an object'])
  await assertRefusedByPlugin(t, [{ delivery: { pollMs: 0 } }, 'delivery.pollMs', 'an integer from 10 to 60000', '0'])
})

t.test('openapi is a boolean or an object', async (t) => {
  for (const [openapi, shown] of [['true', '"true"'], [1, '1'], [null, 'null'], [[], 'an array']] as const) {
    await assertRefusedByPlugin(t, [{ openapi }, 'openapi', 'a boolean or an object', shown])
  }
  await assertRefusedByPlugin(t, [{ openapi: { title: 'x' } }, 'openapi.title', 'a known name such as info', '"title"'])
  const info = { contact: { name: 'Acme' }, license: { name: 'Proprietary' }, title: undefined }
  for (const openapi of [true, false, {}, { info: {} }, { info }, { servers: [{ url: '/', description: undefined }] }]) {
    await assertAcceptedByPlugin(t, { openapi })
  }
})

t.test('openapi.info holds texts, a contact and a license', async (t) => {
  await assertRefusedByPlugin(t, [{ openapi: { info: { licence: {} } } }, 'openapi.info.licence', 'a known name such as license', '"licence"'])
  for (const [info, shown] of [['Acme', '"Acme"'], [null, 'null'], [[], 'an array']] as const) {
    await assertRefusedByPlugin(t, [{ openapi: { info } }, 'openapi.info', 'an object', shown])
  }
  for (const name of ['title', 'version', 'description', 'termsOfService']) {
    for (const [value, shown] of [['', '""'], [1, '1'], [null, 'null']] as const) {
      await assertRefusedByPlugin(t, [{ openapi: { info: { [name]: value } } }, `openapi.info.${name}`, 'text', shown])
    }
  }
  for (const name of ['contact', 'license']) {
    await assertRefusedByPlugin(t, [{ openapi: { info: { [name]: 'Acme' } } }, `openapi.info.${name}`, 'an object', '"Acme"'])
  }
  await assertRefusedByPlugin(t, [{ openapi: { info: { contact: { mail: 'a@b.c' } } } }, 'openapi.info.contact.mail', 'a known name such as email', '"mail"'])
  await assertRefusedByPlugin(t, [{ openapi: { info: { contact: { email: 1 } } } }, 'openapi.info.contact.email', 'text', '1'])
  await assertRefusedByPlugin(t, [{ openapi: { info: { license: { url: 'https://x.example' } } } }, 'openapi.info.license.name', 'text', 'undefined'])
})

t.test('openapi.servers is a list of URLs', async (t) => {
  for (const [servers, shown] of [['/', '"/"'], [[], '"0 entries"'], [null, 'null']] as const) {
    await assertRefusedByPlugin(t, [{ openapi: { servers } }, 'openapi.servers', 'an array of at least one server', shown])
  }
  await assertRefusedByPlugin(t, [{ openapi: { servers: ['/'] } }, 'openapi.servers[0]', 'an object', '"/"'])
  await assertRefusedByPlugin(t, [{ openapi: { servers: [{ url: '/' }, { description: 'x' }] } }, 'openapi.servers[1].url', 'text', 'undefined'])
  await assertRefusedByPlugin(t, [{ openapi: { servers: [{ uri: '/' }] } }, 'openapi.servers[0].uri', 'a known name such as url', '"uri"'])
})

t.test('openapi.inHostDocument is a boolean', async (t) => {
  for (const [inHostDocument, shown] of [['yes', '"yes"'], [1, '1'], [null, 'null']] as const) {
    await assertRefusedByPlugin(t, [{ openapi: { inHostDocument } }, 'openapi.inHostDocument', 'a boolean', shown])
  }
  await assertAcceptedByPlugin(t, { openapi: { inHostDocument: true } })
})

const store = class { incr () {} }
const time = 'milliseconds from 1000 to 86400000, or text such as 1 minute'
const times = [
  [999, '999'], [86_400_001, '86400001'], [1500.5, '1500.5'], [null, 'null'], ['1 eternity', '"1 eternity"'], ['minute', '"minute"'],
  ['', '""'], ['-1 minute', '"-1 minute"'], ['1 constructor', '"1 constructor"'], ['25 hours', '"25 hours"'], ['500 ms', '"500 ms"']
] as const

t.test('limits that are at fault are refused, with their path', async (t) => {
  for (const [rateLimit, path, expected, shown] of [
    ['yes', '', 'a boolean or an object', '"yes"'],
    [null, '', 'a boolean or an object', 'null'],
    [{ maximum: 5 }, '.maximum', 'a known name such as max', '"maximum"'],
    [{ failKeys: {} }, '.failKeys', 'a known name such as failedKeys', '"failKeys"'],
    [{ max: 0 }, '.max', 'an integer from 1 to 1000000000, or a function', '0'],
    [{ max: '100' }, '.max', 'an integer from 1 to 1000000000, or a function', '"100"'],
    [{ perTenant: 1 }, '.perTenant', 'a boolean', '1'],
    [{ failedKeys: { max: () => 5 } }, '.failedKeys.max', 'an integer from 1 to 1000000000', 'a function'],
    ...times.map(([timeWindow, shown]) => [{ timeWindow }, '.timeWindow', time, shown] as const),
    [{ operations: 5 }, '.operations', 'an object', '5'],
    [{ operations: null }, '.operations', 'an object', 'null'],
    [{ operations: { replayWebhook: 5 } }, '.operations.replayWebhook', 'an object', '5'],
    [{ operations: { replayWebhook: null } }, '.operations.replayWebhook', 'an object', 'null'],
    [{ operations: { replayWebhook: { max: 1.5 } } }, '.operations.replayWebhook.max', 'an integer from 1 to 1000000000, or a function', '1.5'],
    [{ operations: { replay: {} } }, '.operations.replay', 'the operationId of a route', '"replay"'],
    [{ failedKeys: true }, '.failedKeys', 'an object', 'true'],
    [{ failedKeys: { window: 1 } }, '.failedKeys.window', 'a known name such as timeWindow', '"window"'],
    [{ redis: 'redis://localhost' }, '.redis', 'a client such as that of ioredis', '"redis://localhost"'],
    [{ redis: null }, '.redis', 'a client such as that of ioredis', 'null'],
    [{ nameSpace: 1 }, '.nameSpace', 'a string', '1'],
    [{ store: class { read () {} } }, '.store', 'a class with the method incr', 'a function'],
    [{ store: null }, '.store', 'a class with the method incr', 'null'],
    [{ cache: 0 }, '.cache', 'an integer from 1 to 10000000', '0'],
    [{ skipOnError: 1 }, '.skipOnError', 'a boolean', '1']
  ] as const) await assertRefusedByPlugin(t, [{ rateLimit }, `rateLimit${path}`, expected, shown])
})

t.test('limits of undefined are the default', async (t) => {
  await assertAcceptedByPlugin(t, { rateLimit: undefined })
  await assertAcceptedByPlugin(t, {
    rateLimit: { max: undefined, timeWindow: undefined, operations: undefined, failedKeys: undefined, redis: undefined, store: undefined, cache: undefined }
  })
  await assertAcceptedByPlugin(t, { rateLimit: { store } })
})

const expected = 'a URL such as https://api.example.com, without query and fragment'

t.test('publicUrl is an absolute URL of http or https, without query and fragment', async (t) => {
  const wrong = [
    'api.example.com', '/ats', '//api.example.com', 'ftp://api.example.com', 'https://user@api.example.com', 'https://:p@api.example.com',
    'https://api.example.com?x=1', 'https://api.example.com/?', 'https://api.example.com#x', 'https://api.example.com/#',
    'https://api.example.com\\ats', ' https://api.example.com', 'https://api.example.com/a b', 'https://'
  ]
  for (const publicUrl of wrong) {
    await assertRefused(t, [{ publicUrl }, 'publicUrl', expected, JSON.stringify(publicUrl)])
  }
  await assertRefusedByPlugin(t, [{ publicUrl: 7 }, 'publicUrl', expected, '7'])
  await assertRefusedByPlugin(t, [{ publicUrl: null }, 'publicUrl', expected, 'null'])
  for (const publicUrl of ['https://api.example.com', 'http://10.0.0.1:3000/', 'https://example.com/ats/', '', undefined]) {
    await assertAccepted(t, { publicUrl })
    await assertAcceptedByPlugin(t, { publicUrl })
  }
})

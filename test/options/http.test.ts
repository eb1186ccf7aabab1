import t from 'tap'
import { Type } from '@sinclair/typebox'
import { createRecruiting } from '../../src/index.js'
import { memoryStorage } from '../../src/memory/index.js'
import { assertAcceptedByPlugin, assertRefusedByPlugin } from '../fixtures/refused-option.js'

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

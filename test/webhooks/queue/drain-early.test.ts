import Fastify from 'fastify'
import t from 'tap'
import recruitingApi from '../../../src/index.js'
import { memoryKeyLookup, memoryStorage } from '../../../src/memory/index.js'

t.test('drain before the server is ready throws, and resolves afterwards', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(recruitingApi, { storage: memoryStorage(), keyLookup: memoryKeyLookup([]) })
  await t.rejects(app.recruiting.drain(), {
    code: 'not_started', message: 'the server is not ready: await app.ready() or app.listen() before drain'
  })
  await app.ready()
  await app.recruiting.drain()
})

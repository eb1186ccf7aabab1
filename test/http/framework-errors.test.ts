import Fastify, { type FastifyReply } from 'fastify'
import t from 'tap'
import recruitingApi from '../../src/index.js'
import { memoryKeyLookup, memoryStorage } from '../../src/memory/index.js'

t.test('with the lines of the README even what the router refuses is in our form, and only below our prefix', async (t) => {
  const app = Fastify({
    frameworkErrors (error, request, reply: FastifyReply) {
      if (!request.url.startsWith('/api/v1/public/')) return reply.send(error)
      const message = 'Validation failed for request payload'
      reply.code(400).send({ error: { code: 'bad_request', message, request_id: request.id } })
    }
  })
  t.teardown(() => app.close())
  await app.register(recruitingApi, { storage: memoryStorage(), keyLookup: memoryKeyLookup([]), delivery: false })

  for (const url of ['/api/v1/public/%zz/candidates', `/api/v1/public/${'a'.repeat(101)}/candidates`]) {
    const answer = await app.inject(url)
    t.equal(answer.statusCode, 400)
    const { error } = answer.json<{ error: Record<string, string> }>()
    t.same({ ...error, request_id: '' }, { code: 'bad_request', message: 'Validation failed for request payload', request_id: '' })
  }
  const foreign = await app.inject('/%zz')
  t.equal(foreign.json<{ code: string }>().code, 'FST_ERR_BAD_URL')
})

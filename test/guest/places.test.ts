import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import { text } from 'node:stream/consumers'
import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'
import recruitingApi, { type RecruitingApiOptions } from '../../src/index.js'
import { memoryKeyLookup, memoryStorage } from '../../src/storages/memory/index.js'
import { checkError } from '../fixtures/api/answers.js'
import { apiKeys, bearer, keys, tenants } from '../fixtures/api/app.js'

function optionsFor (name = 'Ada Lovelace'): RecruitingApiOptions {
  const candidates = [{ id: 1, full_name: name }]
  const storage = memoryStorage({ tenants: { ...tenants, acme: { candidates } } })
  return { storage, keyLookup: memoryKeyLookup(apiKeys), delivery: false }
}

const path = '/api/v1/public/acme/candidates'
const headers = bearer(keys.full)

async function namesAt (app: FastifyInstance, url: string): Promise<string[]> {
  const { data } = (await app.inject({ url, headers })).json<{ data: Array<{ full_name: string }> }>()
  return data.map(({ full_name: name }) => name)
}

t.test('in a child with a prefix, the API and its links have that prefix', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(async (child) => { await child.register(recruitingApi, optionsFor()) }, { prefix: '/eu' })
  const answer = await app.inject({ url: `/eu${path}`, headers })
  t.equal(answer.statusCode, 200)
  t.equal(answer.headers.link, `</eu${path}?page=1&per_page=25&sort=id>; rel="first", </eu${path}?page=1&per_page=25&sort=id>; rel="last"`)
  checkError(t, await app.inject({ url: '/eu/api/v1/public/acme/nothing', headers }), 404)
  t.match((await app.inject({ url: path, headers })).json(), { message: `Route GET:${path} not found` })
  t.ok(Object.keys((await app.inject('/eu/api/v1/public/openapi.json')).json().paths).every((name) => name.startsWith('/eu/')))
})

t.test('registered in two children with two storages, each API uses its own storage', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const children: FastifyInstance[] = []
  for (const [prefix, name] of [['/eu', 'Ada Lovelace'], ['/us', 'Grace Hopper']] as const) {
    await app.register(async (child) => {
      await child.register(recruitingApi, optionsFor(name))
      children.push(child)
    }, { prefix })
  }
  t.same([await namesAt(app, `/eu${path}`), await namesAt(app, `/us${path}`)], [['Ada Lovelace'], ['Grace Hopper']])
  const [eu, us] = children
  t.not(eu?.recruiting, us?.recruiting)
  t.notOk(app.hasDecorator('recruiting'))
})

t.test('a second registration in the same server is rejected, even under another prefix', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(recruitingApi, optionsFor())
  await t.rejects(async () => app.register(recruitingApi, { ...optionsFor(), prefix: '/v2' }), { code: 'FST_ERR_DEC_ALREADY_PRESENT', message: /'recruiting'/ })
})

t.test('a host with its own decorator `recruiting` can register the plugin in a child', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.decorate('recruiting', { mine: true } as never)
  app.get('/own', async () => app.recruiting)
  await app.register(async (child) => { await child.register(recruitingApi, optionsFor()) })
  t.same(await namesAt(app, path), ['Ada Lovelace'])
  t.same((await app.inject('/own')).json(), { mine: true })
})

async function ask (session: ClientHttp2Session, request: Record<string, string>, body = ''): Promise<[number, Record<string, unknown>, string]> {
  const stream = session.request(request, { endStream: body === '' })
  if (body !== '') stream.end(body)
  const [answer] = await once(stream, 'response') as [Record<string, unknown>]
  return [Number(answer[':status']), answer, await text(stream)]
}

t.test('responses over HTTP/2 are the same', async (t) => {
  const app = Fastify({ http2: true })
  await app.register(recruitingApi, optionsFor() as never)
  const session = connect(await app.listen({ host: '127.0.0.1', port: 0 }))
  t.teardown(async () => {
    session.close()
    await app.close()
  })
  const [status, answer, body] = await ask(session, { ':path': `${path}?filter[q]=ada`, ...headers })
  t.same([status, answer['content-type'], answer['cache-control']], [200, 'application/json; charset=utf-8', 'no-store'])
  t.same(JSON.parse(body), { data: [{ id: 1, full_name: 'Ada Lovelace', headline: null, source_id: null }], meta: { page: 1, per_page: 25, total: 1, total_pages: 1 } })
  const json = { ':method': 'POST', ':path': '/api/v1/public/acme/webhooks', 'content-type': 'application/json' }
  t.equal((await ask(session, { ...json, ...headers }, JSON.stringify({ name: 'ATS', target_url: 'https://example.com/', event_types: ['job.created'] })))[0], 201)
  for (const [request, status] of [
    [{ ':path': path }, 401], [{ ':path': `${path}?page=0`, ...headers }, 400], [{ ':path': '/api/v1/public/acme/nothing', ...headers }, 404],
    [{ ...json, ...headers }, 400]
  ] as const) {
    const [statusCode, { ':status': _, ...rest }, body] = await ask(session, request)
    checkError(t, { statusCode, headers: rest as Record<string, string>, body }, status)
  }
})

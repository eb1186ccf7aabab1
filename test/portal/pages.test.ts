import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import compress from '@fastify/compress'
import helmet from '@fastify/helmet'
import t, { type Test } from 'tap'
import { apiScopes } from '../../src/index.js'
import { memoryKeyLookup, memoryStorage } from '../../src/storages/memory/index.js'
import { readPortal } from '../../src/around/portal/options.js'
import { en } from '../../src/around/portal/messages.js'
import { languages } from '../../src/around/portal/pages.js'
import { readAssets } from '../../src/around/portal/pages.js'
import { comparable } from '../fixtures/api/answers.js'
import { allScopes, type AppOverrides, bearer, buildApp, tenants } from '../fixtures/api/app.js'
import { buildAppWithRoutes, urlOf } from '../fixtures/api/routes.js'
import { storeWebhook } from '../fixtures/api/webhooks.js'
import { base, listFiles, policyFor, protectedHeaders, readConfig } from '../fixtures/portal/files.js'
import { createToken, portal } from '../fixtures/portal/sessions.js'

const immutable = 'public, max-age=31536000, immutable'

t.test('the page has no inline script or style, and its paths are relative', async (t) => {
  const app = await buildApp(t, { portal })
  const { statusCode, headers, body } = await app.inject(base)
  t.equal(statusCode, 200)
  const { date: _date, etag, 'content-length': _length, connection: _connection, ...rest } = headers
  t.strictSame(rest, { ...protectedHeaders, 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' })
  t.match(etag, /^W\/"[\w-]{43}"$/)
  t.notMatch(body, /<script>|<style|style=|\son\w+=/)
  t.match([...body.matchAll(/(?:src|href)="(.*?)"/g)].map(([, path]) => path), ['data:,', /^assets\/portal-[\da-f]{16}\.css$/, /^assets\/portal-[\da-f]{16}\.js$/])
})

t.test('script and style are the built files, under hashed names, and are cached for a year', async (t) => {
  const app = await buildApp(t, { portal })
  const { script, style } = await listFiles(app)
  for (const [path, name, type] of [[script, 'portal.js', 'text/javascript'], [style, 'portal.css', 'text/css']] as const) {
    const answer = await app.inject(`${base}${path}`)
    const file = await readFile(new URL(`../../dist/portal/${name}`, import.meta.url))
    t.ok(answer.rawPayload.equals(file), name)
    t.match(path, createHash('sha256').update(file).digest('hex').slice(0, 16))
    t.match(answer.headers, { ...protectedHeaders, 'content-type': `${type}; charset=utf-8`, 'cache-control': immutable })
  }
})

t.test("element.js imports the page's script and defines the element with the page's configuration", async (t) => {
  const app = await buildApp(t, { portal })
  const { script } = await listFiles(app)
  const { headers, body } = await app.inject(`${base}assets/element.js`)
  t.match(headers, { ...protectedHeaders, 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'no-cache' })
  const [, from, config = ''] = /^import \{ define \} from '(.*)'\ndefine\((.*)\)\n$/.exec(body) ?? []
  t.equal(from, script.replace('assets/', './'))
  t.strictSame(JSON.parse(config), readConfig((await app.inject(base)).body))
})

t.test('the configuration has the look, the text files, the origins and the source addresses', async (t) => {
  const app = await buildApp(t, {
    delivery: { sourceIps: ['203.0.113.7', '2001:db8::/32'] },
    portal: {
      ...portal,
      frameAncestors: ['self', 'https://ats.example'],
      returnOrigins: ['https://hr.example'],
      theme: { accent: '#0b57d0', radius: 4, font: '"Segoe UI"', mode: 'dark' }
    }
  })
  const { body } = await app.inject(base)
  const { style, texts } = await listFiles(app)
  t.strictSame(readConfig(body), {
    style: style.replace('assets/', ''),
    theme: { accent: { light: '#0b57d0', dark: '#4881dc' }, radius: '4px', font: '"Segoe UI"', mode: 'dark' },
    messages: Object.fromEntries(Object.entries(texts).map(([locale, path]) => [locale, path.replace('assets/', '')])),
    isKeyed: false,
    origins: ["'self'", 'https://ats.example'],
    returnOrigins: ['https://hr.example'],
    sourceIps: ['203.0.113.7', '2001:db8::/32'],
    keys: { scopes: apiScopes, maxKeys: 50, maxDays: 365 },
    hasAgents: false
  })
})

t.test('the portal shows agents if they can subscribe', async (t) => {
  const { subscriptions: _none, ...polled } = memoryStorage({ tenants })
  for (const [options, expected] of [
    [{ mcp: true }, false], [{ mcp: { events: true } }, true], [{ mcp: { events: true }, storage: polled }, false]
  ] as const) {
    const app = await buildApp(t, { portal, delivery: { worker: false }, ...options })
    t.equal(readConfig((await app.inject(base)).body).hasAgents, expected)
  }
})

t.test('each language is a file with a hashed name, cached for a year; the host can replace and add languages', async (t) => {
  const own = { ...en, shell: { ...en.shell, title: '"><script>alert(1)</script>&quot;\'\u2028' } }
  const app = await buildApp(t, { portal: { ...portal, messages: { de: own, 'pt-PT': own, ar: own } } })
  const { texts } = await listFiles(app)
  t.strictSame(Object.keys(texts), [...Object.keys(languages), 'pt-PT', 'ar'])
  for (const [locale, messages] of Object.entries({ ...languages, de: own, 'pt-PT': own, ar: own })) {
    const answer = await app.inject(`${base}${texts[locale]}`)
    t.strictSame(answer.json(), messages, locale)
    t.match(answer.headers, { ...protectedHeaders, 'content-type': 'application/json; charset=utf-8', 'cache-control': immutable })
    t.match(texts[locale], createHash('sha256').update(answer.rawPayload).digest('hex').slice(0, 16))
  }
})

t.test('HEAD responds like GET without a body, and a client with the current file gets 304', async (t) => {
  const app = await buildApp(t, { portal })
  const { all } = await listFiles(app)
  t.equal(new Set(all).size, 4 + Object.keys(languages).length)
  for (const path of all) {
    const url = `${base}${path}`
    const got = await app.inject(url)
    const head = await app.inject({ method: 'HEAD', url })
    t.same([head.statusCode, head.body, { ...head.headers, date: '' }], [200, '', { ...got.headers, date: '' }], path)
    const etag = String(got.headers.etag)
    for (const method of ['GET', 'HEAD'] as const) {
      for (const known of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
        const { statusCode, body, headers } = await app.inject({ method, url, headers: { 'if-none-match': known } })
        t.same([statusCode, body, headers.etag, headers['content-type']], [304, '', etag, undefined], `${method} ${path} ${known}`)
        t.match(headers, { ...protectedHeaders, 'cache-control': String(got.headers['cache-control']) })
      }
      const other = await app.inject({ method, url, headers: { 'if-none-match': '"other"' } })
      t.equal(other.statusCode, 200)
    }
  }
})

t.test('the page is served under any prefix, and sessions link to it', async (t) => {
  for (const [prefix, at] of [['/hr/v1', '/hr/v1/portal/'], [undefined, base]] as const) {
    const app = await buildApp(t, { portal, ...(prefix === undefined ? {} : { prefix }) })
    const { url } = await app.recruiting.portal.createSession({ tenantSlug: 'acme', actor: 'user:17' })
    t.equal(url.split('#')[0], at)
    for (const path of (await listFiles(app, at)).all) t.equal((await app.inject(`${at}${path}`)).statusCode, 200, path)
  }
})

t.test(
  'a page of another version gets the current files, which caches must not store under its names',
  async (t) => {
    const app = await buildApp(t, { portal })
    const { script, style, texts } = await listFiles(app)
    const other = '0123456789abcdef'
    const byName = {
      [`portal-${other}.js`]: script,
      [`portal-${other}.css`]: style,
      [`portal-de-${other}.json`]: texts.de,
      [`portal-it-${other}.json`]: texts.en
    }
    for (const [name, path] of Object.entries(byName)) {
      const [answer, current] = await Promise.all([`assets/${name}`, path].map((one) => app.inject(`${base}${one}`)))
      t.same(
        [answer?.statusCode, answer?.body === current?.body, answer?.headers['content-type']],
        [200, true, current?.headers['content-type']],
        name
      )
      t.match(answer?.headers, { ...protectedHeaders, 'cache-control': 'no-cache', etag: current?.headers.etag })
    }
    const without = await buildApp(t)
    for (const name of [`portal-${other}.txt`, `portal-${other}.js/x`, `other-${other}.js`]) {
      t.equal(
        comparable(await app.inject(`${base}assets/${name}`)),
        comparable(await without.inject(`${base}assets/${name}`)),
        name
      )
    }
  }
)

t.test('without the built files, the error shows how to build them', async (t) => {
  const settings = readPortal(portal, 'portal')
  if (settings === null) throw new Error('there are settings')
  await t.rejects(readAssets(settings, { sourceIps: [], keys: null, hasAgents: false, isKeyed: true }, new URL('nowhere/', import.meta.url)), {
    code: 'invalid_option', field: 'portal', message: /^portal: expected the built page: run npm run build:portal, which writes portal\.\w+, got "no such file"$/
  })
})

/** Builds an app whose only tenant is `portal`. */
async function buildTwin (t: Test, options: AppOverrides) {
  const storage = memoryStorage({ tenants: { portal: tenants.acme ?? {} } })
  await storeWebhook(storage, 'portal')
  return buildAppWithRoutes(t, { storage, keyLookup: memoryKeyLookup([{ key: 'a-key', tenantSlug: 'portal', scopes: allScopes }]), ...options })
}

t.test('a tenant named portal has the same API as without the option', async (t) => {
  const { app, routes } = await buildTwin(t, { portal })
  const { app: without } = await buildTwin(t, {})
  const requests = routes.map((route) => [route.method, urlOf(route, { tenant: 'portal' })])
  const near = [
    'nothing', 'assets', 'assets/', 'assets/nothing.js', 'assets/portal.js', 'assets/element.js/x', '/', 'index.html',
    'assets/../element.js', '%2e%2e/'
  ]
  for (const path of near) requests.push(['GET', base + path])
  for (const path of ['', 's/', '/x']) requests.push(['GET', `/api/v1/public/portal${path}`])
  for (const path of ['', 'assets/element.js']) requests.push(['POST', base + path])
  for (const [method = '', url = ''] of requests) {
    for (const key of ['a-key', 'unknown']) {
      const [answer, expected] = await Promise.all([app, without].map(async (one) => {
        const answer = comparable(await one.inject({ method: method as 'GET', url, headers: bearer(key) }))
        return answer.replaceAll(/whsec_[\w+/=]+|T[\d:.]+Z|"(?:next|events)_token\\":\\"[\w.-]+/g, '')
      }))
      t.equal(answer, expected, `${method} ${url} with ${key}`)
    }
  }
  const headers = bearer(await createToken(app, ['read'], { tenantSlug: 'portal' }))
  t.equal((await app.inject({ url: '/api/v1/public/portal/webhooks', headers })).statusCode, 200)
})

t.test('the OpenAPI documents do not contain the page', async (t) => {
  for (const inHostDocument of [false, true]) {
    const before = async (app: FastifyInstance) => { await app.register(swagger, { openapi: {} }) }
    const app = await buildApp(t, { portal, openapi: { inHostDocument }, before })
    t.notMatch(JSON.stringify(app.swagger()), '/portal/')
    t.notMatch((await app.inject('/api/v1/public/openapi.json')).body, '/portal/')
  }
})

t.test("a host's hook can recognize the page's routes by config.recruitingApi", async (t) => {
  const app = await buildApp(t, {
    portal,
    before (app) {
      app.addHook('onRequest', async (request, reply) => { if (request.routeOptions.config.recruitingApi !== true) return reply.code(401).send() })
    }
  })
  for (const path of (await listFiles(app)).all) t.equal((await app.inject(`${base}${path}`)).statusCode, 200, path)
})

/** Returns the responses for all files, without their dates. */
async function read (app: FastifyInstance) {
  const { all } = await listFiles(app)
  return Promise.all(all.map(async (path) => {
    const { statusCode, headers: { date: _, ...headers }, body } = await app.inject(`${base}${path}`)
    return { path, statusCode, headers, body }
  }))
}

const framings: Array<[frameAncestors: string[], sources: string, options: string | undefined]> = [
  [[], "'none'", 'DENY'],
  [['self'], "'self'", 'SAMEORIGIN'],
  [['https://ats.example', 'http://localhost:3000'], 'https://ats.example http://localhost:3000', undefined],
  [['self', 'https://ats.example'], "'self' https://ats.example", undefined]
]

t.test('frameAncestors sets both headers that limit embedding', async (t) => {
  for (const [frameAncestors, sources, options] of framings) {
    const app = await buildApp(t, { portal: { ...portal, frameAncestors } })
    for (const { headers } of await read(app)) {
      t.same([headers['content-security-policy'], headers['x-frame-options']], [policyFor(sources), options])
    }
  }
})

t.test("the host's helmet, registered before or after, neither weakens the headers nor breaks the page", async (t) => {
  const policy = { directives: { defaultSrc: ['*'], frameAncestors: ['*'] } }
  for (const [frameAncestors, sources, options] of framings) {
    for (const when of ['before', 'after'] as const) {
      const app = await buildApp(t, {
        portal: { ...portal, frameAncestors },
        async [when] (app: FastifyInstance) {
          await app.register(helmet, { contentSecurityPolicy: policy, xFrameOptions: { action: 'deny' } })
        }
      })
      for (const { path, statusCode, headers } of await read(app)) {
        const shown = [statusCode, ...Object.keys(protectedHeaders).map((name) => headers[name])]
        t.same(shown, [200, policyFor(sources), 'same-origin', 'no-referrer', 'nosniff', options], `${path} ${when}`)
        t.ok(headers['strict-transport-security'])
      }
    }
  }
})

/** A host's settings and hooks that change responses. */
const changes: Record<string, (app: FastifyInstance) => unknown> = {
  'wraps every body': (app) =>
    app.addHook('onSend', async (_request, _reply, payload) => JSON.stringify({ mine: String(payload) })),
  'sets headers': (app) =>
    app.addHook('onSend', async (_request, reply) => {
      reply.headers({
        'content-type': 'text/plain',
        'cache-control': 'public',
        'content-length': '5',
        etag: '"mine"',
        'content-security-policy': 'default-src *',
        'x-frame-options': 'ALLOWALL'
      })
    }),
  'sets headers on the raw response': (app) =>
    app.addHook('onSend', async (_request, reply) => {
      reply.raw.setHeader('Content-Security-Policy', 'default-src *')
    }),
  'has a serializer': (app) => app.setSerializerCompiler(() => () => '"mine"'),
  'wraps every object': (app) =>
    app.addHook('preSerialization', async (_request, _reply, payload) => ({ mine: payload })),
  'has its own handlers': (app) => {
    app.setErrorHandler((_error, _request, reply) => reply.code(418).send())
    app.setNotFoundHandler((_request, reply) => reply.code(418).send())
  },
  'has a validator that rejects everything': (app) =>
    app.setValidatorCompiler(() => () => ({ error: new Error('mine') }))
}

t.test('no hook, serializer or handler of the host changes a file', async (t) => {
  const plain = await read(await buildApp(t, { portal }))
  t.same(plain.map(({ statusCode }) => statusCode), plain.map(() => 200))
  for (const [what, change] of Object.entries(changes)) {
    for (const when of ['before', 'after'] as const) {
      const prepare = async (app: FastifyInstance) => { await change(app) }
      const app = await buildApp(t, { portal, openapi: false, [when]: prepare })
      t.same(await read(app), plain, `a host that ${what}, ${when}`)
      const [{ headers = {} } = {}] = plain
      const known = await app.inject({ url: base, headers: { 'if-none-match': String(headers.etag) } })
      t.same([known.statusCode, known.body], [304, ''], `a host that ${what}, ${when}, with a client that has the page`)
    }
  }
})

t.test('files that the host compresses are otherwise unchanged', async (t) => {
  for (const when of ['before', 'after'] as const) {
    const app = await buildApp(t, {
      portal, openapi: false, async [when] (app: FastifyInstance) { await app.register(compress, { threshold: 0 }) }
    })
    for (const { path, headers, body } of await read(app)) {
      const zipped = { 'accept-encoding': 'gzip' }
      const answer = await app.inject({ url: `${base}${path}`, headers: zipped })
      if (when === 'before') t.equal(answer.headers['content-encoding'], 'gzip')
      t.equal((answer.headers['content-encoding'] === 'gzip' ? gunzipSync(answer.rawPayload) : answer.rawPayload).toString(), body, path)
      t.match(answer.headers, { ...protectedHeaders, 'content-type': String(headers['content-type']), etag: String(headers.etag) })
      const known = await app.inject({ url: `${base}${path}`, headers: { ...zipped, 'if-none-match': String(headers.etag) } })
      t.equal(known.statusCode, 304)
      const head = await app.inject({ method: 'HEAD', url: `${base}${path}`, headers: zipped })
      t.same([head.statusCode, head.body], [200, ''])
    }
  }
})

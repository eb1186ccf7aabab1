import type { IncomingHttpHeaders } from 'node:http'
import t from 'tap'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'
import { checkError } from '../fixtures/api/answers.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'

const base = '/api/v1/public/acme'
const headers = { ...bearer(keys.full), 'content-type': 'application/json' }

const hostileQueries = [
  '%00', 'a%00b', '%ff', '%c0%af', '%c0%80', '%ed%a0%80', '%ed%b0%80', '%ed%a0%bd%ed%b8%80', '%f5%80%80%80', '%e9', '%', '%2', '%zz', 'a%'
]

const textParameters = [
  ['candidates', 'filter[q]'], ['candidates', 'filter[updated_after]'], ['candidates', 'sort'], ['jobs', 'filter[q]'],
  ['jobs', 'filter[status]'], ['jobs', 'filter[updated_after]'], ['webhooks', 'filter[status]'],
  ['webhooks/1/deliveries', 'filter[status]'], ['webhooks/1/deliveries', 'filter[event_type]'],
  ['webhooks/1/deliveries', 'filter[event_id]']
]

const hugeIntegers = ['9007199254740992', '18446744073709551616', '1'.padEnd(90, '0'), '-9007199254740993']

t.test('query text that no storage can store gets 400 and never reaches it', async (t) => {
  const { storage, calls } = spyStorage()
  const app = await buildApp(t, { storage })
  for (const hostile of hostileQueries) {
    for (const [list, name] of textParameters) {
      checkError(t, await app.inject({ url: `${base}/${list}?${name}=${hostile}`, headers }), 400, `${list} ${name}=${hostile}`)
      checkError(t, await app.inject({ url: `${base}/${list}?${hostile}=x`, headers }), 400, `${list} ${hostile}=x`)
    }
  }
  t.same(calls, [])
})

t.test('bytes that a lenient parser accepts get 400 and never reach the storage', async (t) => {
  const { storage, calls } = spyStorage()
  const server = { rewriteUrl: ({ headers }: { headers: IncomingHttpHeaders }) => String(headers['x-url']) }
  const app = await buildApp(t, { storage, server })
  for (const text of ['Ã©', 'é', '\u00ff', '\u0001', '\u007f', '\0', ' ', '\ud800', '中', '😀']) {
    for (const query of [`filter[q]=${text}`, `${text}=1`, `page=1${text}`]) {
      const url = `${base}/candidates?${query}`
      checkError(t, await app.inject({ url: '/', headers: { ...headers, 'x-url': url } }), 400, JSON.stringify(url))
    }
  }
  t.same(calls, [])
})

t.test('an id beyond 2^53-1 gets 404 and never reaches the storage', async (t) => {
  const { storage, calls } = spyStorage()
  const app = await buildApp(t, { storage })
  for (const id of [...hugeIntegers, '0', '-1', '-0', '00']) {
    for (const [method, path] of [
      ['GET', id], ['PATCH', id], ['DELETE', id], ['POST', `${id}/rotate_secret`], ['POST', `${id}/dispatch_test`],
      ['POST', `${id}/replay`], ['GET', `${id}/deliveries`], ['GET', `${id}/deliveries/1`]
    ] as const) {
      const payload = method === 'PATCH' ? '{"name":"Renamed"}' : ''
      checkError(t, await app.inject({ method, url: `${base}/webhooks/${path}`, headers, payload }), 404, `${method} ${path}`)
    }
    for (const list of ['candidates', 'jobs']) checkError(t, await app.inject({ url: `${base}/${list}/${id}`, headers }), 404, `${list}/${id}`)
    checkError(t, await app.inject({ url: `${base}/webhooks/x/deliveries/${id}`, headers }), 400, `x/deliveries/${id}`)
  }
  t.same(calls, [])
})

t.test('hostile text instead of an id gets 400 and never reaches the storage', async (t) => {
  const { storage, calls } = spyStorage()
  const app = await buildApp(t, { storage })
  for (const id of ['x', '1x', '%00', '1%00', '1.0', '1.5', '1e3', '0x1', '%201', '1%20', '%2b1', '+1', '1,2', 'NaN', 'null', '%d9%a1', '1%0a']) {
    for (const list of ['candidates', 'jobs', 'webhooks']) checkError(t, await app.inject({ url: `${base}/${list}/${id}`, headers }), 400, `${list}/${id}`)
    checkError(t, await app.inject({ url: `${base}/webhooks/1/deliveries/${id}`, headers }), 400, `deliveries/${id}`)
    checkError(t, await app.inject({ method: 'DELETE', url: `${base}/webhooks/${id}`, headers: bearer(keys.full) }), 400, id)
  }
  t.same(calls, [])
})

const good = { name: 'ATS events', target_url: 'https://example.com/hook', event_types: ['application.created'] }
const hostileTexts = ['\0', 'a\0b', '\ud800', 'a\udc00', '\udc00\ud800', '\ud83d']

/** Bodies with hostile text instead of each text, including names. JSON.stringify escapes the hostile text. */
function bodiesWith (text: string): Array<[method: 'POST' | 'PATCH', path: string, body: unknown]> {
  return [
    ...Object.keys(good).flatMap((name): Array<['POST' | 'PATCH', string, unknown]> => {
      const value = name === 'event_types' ? [text] : `${good[name as 'name']}${text}`
      return [['POST', '', { ...good, [name]: value }], ['PATCH', '/1', { [name]: value }]]
    }),
    ['POST', '', { ...good, status: text }],
    ['POST', '', { ...good, [text]: 1 }],
    ['POST', '', { ...good, deep: [[{ deep: { [text]: [] } }]] }],
    ['POST', '/1/dispatch_test', { event_type: text }],
    ['POST', '/1/replay', { event_types: [text] }],
    ['POST', '/1/replay', { event_ids: [text] }],
    ['POST', '/1/replay', { since: text }],
    ['POST', '/1/rotate_secret', text]
  ]
}

t.test('body text that no storage can store gets 400 and never reaches it', async (t) => {
  const { storage, calls } = spyStorage()
  const app = await buildApp(t, { storage })
  for (const text of hostileTexts) {
    for (const [method, path, body] of bodiesWith(text)) {
      const payload = JSON.stringify(body)
      checkError(t, await app.inject({ method, url: `${base}/webhooks${path}`, headers, payload }), 400, `${method} ${path} ${payload}`)
    }
  }
  t.same(calls, [])
})

import { connect } from 'node:net'
import t from 'tap'
import { bearer, buildApp, keys } from '../../fixtures/api/app.js'
import { checkError } from '../../fixtures/api/answers.js'
import { captureLogs } from '../../fixtures/api/logs.js'
import { listen, sendRaw } from '../../fixtures/receivers/raw-http.js'
import { spyStorage } from '../../fixtures/delivery/spy-storage.js'

const url = '/api/v1/public/acme/webhooks'
const good = JSON.stringify({ name: 'ATS events', target_url: 'https://example.com/hook', event_types: ['application.created'] })
const json = 'application/json'

const bodies: Record<string, { type?: string, payload: string | Buffer }> = {
  'an empty body': { type: json, payload: '' },
  'no body and no media type': { payload: '' },
  'an empty body of another media type': { type: 'text/plain', payload: '' },
  blanks: { type: json, payload: '  \n' },
  'half a body': { type: json, payload: good.slice(0, -1) },
  'more than a body': { type: json, payload: `${good}}` },
  'two bodies': { type: json, payload: good + good },
  'a trailing comma': { type: json, payload: good.replace('}', ',}') },
  'single quotes': { type: json, payload: good.replaceAll('"', "'") },
  'a comment': { type: json, payload: `/* */${good}` },
  'a form': { type: 'application/x-www-form-urlencoded', payload: 'name=ATS+events' },
  'the bare word NaN': { type: json, payload: '{"name":NaN}' },
  null: { type: json, payload: 'null' },
  true: { type: json, payload: 'true' },
  'a number': { type: json, payload: '1' },
  'a string': { type: json, payload: '"name"' },
  'an array': { type: json, payload: `[${good}]` },
  'an empty object': { type: json, payload: '{}' },
  __proto__: { type: json, payload: good.replace('{', '{"__proto__":{"status":"active"},') },
  'an escaped __proto__': { type: json, payload: good.replace('{', '{"\\u005f_proto__":{},') },
  'constructor.prototype': { type: json, payload: good.replace('{', '{"constructor":{"prototype":{}},') },
  'Latin-1': { type: json, payload: Buffer.from(good.replace('ATS', 'Bücher'), 'latin1') },
  'UTF-16': { type: 'application/json; charset=utf-16', payload: Buffer.from(good, 'utf16le') },
  'an overlong encoding': { type: json, payload: Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')]) },
  'a surrogate encoded as UTF-8': { type: json, payload: Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]) },
  gzip: { type: json, payload: Buffer.from('1f8b0800000000000003', 'hex') },
  'no media type': { payload: good },
  'an empty media type': { type: '', payload: good },
  'the media type text/plain': { type: 'text/plain', payload: good },
  'the media type text/json': { type: 'text/json', payload: good },
  'the media type application/json-patch+json': { type: 'application/json-patch+json', payload: good },
  'the media type application/jsonx': { type: 'application/jsonx', payload: good },
  'the media type application/vnd.api+json': { type: 'application/vnd.api+json', payload: good },
  'the media type application': { type: 'application', payload: good },
  'the media type */*': { type: '*/*', payload: good },
  'two media types': { type: 'text/plain, application/json', payload: good },
  'a multipart body': { type: 'multipart/form-data; boundary=x', payload: '--x--' }
}

t.test('a body that cannot be read, or says nothing, gets 400 and never reaches the storage', async (t) => {
  const { storage, calls } = spyStorage()
  const app = await buildApp(t, { storage })
  for (const [what, { type, payload }] of Object.entries(bodies)) {
    const headers = { ...bearer(keys.full), ...(type === undefined ? {} : { 'content-type': type }) }
    checkError(t, await app.inject({ method: 'POST', url, headers, payload }), 400, what)
  }
  t.same(calls, [])
})

t.test('a media type is accepted in any letter case and with parameters', async (t) => {
  const app = await buildApp(t)
  for (const type of [json, 'Application/JSON', 'application/json;charset=utf-8', 'application/json; charset=UTF-8', 'application/json; x=y']) {
    const answer = await app.inject({ method: 'POST', url, headers: { ...bearer(keys.full), 'content-type': type }, payload: good })
    t.equal(answer.statusCode, 201, type)
  }
})

t.test('a body whose length is not the one of Content-Length gets 400', async (t) => {
  const app = await buildApp(t)
  for (const length of [good.length - 1, good.length + 1]) {
    const headers = { ...bearer(keys.full), 'content-type': json, 'content-length': String(length) }
    checkError(t, await app.inject({ method: 'POST', url, headers, payload: good }), 400, `${length} bytes`)
  }
})

t.test('a body in chunks is read like any other', async (t) => {
  const app = await buildApp(t)
  const head = `POST ${url} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: ${json}\r\n` +
    `Authorization: Bearer ${keys.full}\r\nTransfer-Encoding: chunked\r\n\r\n`
  const [answer] = await sendRaw(app, `${head}${good.length.toString(16)}\r\n${good}\r\n0\r\n\r\n`)
  t.equal(answer?.statusCode, 201)
})

t.test('a body that never arrives whole is no failure of the service', async (t) => {
  const logs = captureLogs()
  const app = await buildApp(t, { server: { logger: logs.logger } })
  const { port } = new URL(await listen(app))
  const socket = connect(Number(port), '127.0.0.1', () => {
    socket.end(`POST ${url} HTTP/1.1\r\nHost: a\r\nContent-Type: ${json}\r\nAuthorization: Bearer ${keys.full}\r\nContent-Length: 100\r\n\r\n{`)
  })
  t.same((await logs.waitFor('request refused')).details, [{ in: 'body', field: '', message: 'must arrive whole' }])
  t.same(logs.lines.filter(({ level }) => level > 30), [])
})

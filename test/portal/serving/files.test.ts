import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { readAssets } from '../../../src/portal/assets.js'
import { readPortal } from '../../../src/options/portal.js'
import { de } from '../../../src/portal/messages/de.js'
import { en } from '../../../src/portal/messages/en.js'
import { buildApp } from '../../fixtures/api/app.js'
import { base, listFiles, protectedHeaders } from '../../fixtures/portal/files.js'
import { portal } from '../../fixtures/portal/sessions.js'

const immutable = 'public, max-age=31536000, immutable'

/** The attribute `config` of a page, as a browser reads it. */
function readConfig (page: string): unknown {
  const [, config = ''] = /<recruiting-webhooks config="([^"<>]*)"><\/recruiting-webhooks>/.exec(page) ?? []
  return JSON.parse(config.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'))
}

t.test('the page is HTML of a few lines, without an inline script or style, and its paths are relative', async (t) => {
  const app = await buildApp(t, { portal })
  const { statusCode, headers, body } = await app.inject(base)
  t.equal(statusCode, 200)
  const { date: _date, etag, 'content-length': _length, connection: _connection, ...rest } = headers
  t.strictSame(rest, { ...protectedHeaders, 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' })
  t.match(etag, /^W\/"[\w-]{43}"$/)
  t.notMatch(body, /<script>|<style|style=|\son\w+=/)
  t.match([...body.matchAll(/(?:src|href)="(.*?)"/g)].map(([, path]) => path), ['data:,', /^assets\/portal-[\da-f]{16}\.css$/, /^assets\/portal-[\da-f]{16}\.js$/])
})

t.test('script and style are the built files, with a hash in their names, and kept for a year', async (t) => {
  const app = await buildApp(t, { portal })
  const { script, style } = await listFiles(app)
  for (const [path, name, type] of [[script, 'portal.js', 'text/javascript'], [style, 'portal.css', 'text/css']] as const) {
    const answer = await app.inject(`${base}${path}`)
    const file = await readFile(new URL(`../../../dist/portal/${name}`, import.meta.url))
    t.ok(answer.rawPayload.equals(file), name)
    t.match(path, createHash('sha256').update(file).digest('hex').slice(0, 16))
    t.match(answer.headers, { ...protectedHeaders, 'content-type': `${type}; charset=utf-8`, 'cache-control': immutable })
  }
})

t.test('element.js imports the script of the page and defines the element with its configuration', async (t) => {
  const app = await buildApp(t, { portal })
  const { script } = await listFiles(app)
  const { headers, body } = await app.inject(`${base}assets/element.js`)
  t.match(headers, { ...protectedHeaders, 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'no-cache' })
  const [, from, config = ''] = /^import \{ define \} from '(.*)'\ndefine\((.*)\)\n$/.exec(body) ?? []
  t.equal(from, script.replace('assets/', './'))
  t.strictSame(JSON.parse(config), readConfig((await app.inject(base)).body))
})

t.test('the configuration has the look, the texts and the origins, however they are written', async (t) => {
  const hostile = '"><script>alert(1)</script>&quot;\'\u2028'
  const fr = { ...en, shell: { ...en.shell, title: hostile } }
  const app = await buildApp(t, {
    portal: { ...portal, frameAncestors: ['self', 'https://ats.example'], theme: { accent: '#0b57d0', radius: 4, font: '"Segoe UI"', mode: 'dark' }, messages: { fr } }
  })
  const { body } = await app.inject(base)
  t.notMatch(body, 'alert(1)</script>')
  t.strictSame(readConfig(body), {
    style: (await listFiles(app)).style.replace('assets/', ''),
    theme: { accent: { light: '#0b57d0', dark: '#4881dc' }, radius: '4px', font: '"Segoe UI"', mode: 'dark' },
    messages: { de, fr },
    origins: ["'self'", 'https://ats.example']
  })
})

t.test('HEAD answers like GET without a body, and a client that has a file already gets 304', async (t) => {
  const app = await buildApp(t, { portal })
  const { all } = await listFiles(app)
  t.equal(new Set(all).size, 4)
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

t.test('the page is below every prefix, and sessions lead to it', async (t) => {
  for (const [prefix, at] of [['/hr/v1', '/hr/v1/portal/'], [undefined, base]] as const) {
    const app = await buildApp(t, { portal, ...(prefix === undefined ? {} : { prefix }) })
    const { url } = await app.recruiting.portal.createSession({ tenantSlug: 'acme', actor: 'user:17' })
    t.equal(url.split('#')[0], at)
    for (const path of (await listFiles(app, at)).all) t.equal((await app.inject(`${at}${path}`)).statusCode, 200, path)
  }
})

t.test('without the built files the registration says how to build them', async (t) => {
  const settings = readPortal(portal, 'portal')
  if (settings === null) throw new Error('there are settings')
  await t.rejects(readAssets(settings, new URL('nowhere/', import.meta.url)), {
    code: 'invalid_option', field: 'portal', message: /^portal: expected the built page: run npm run build:portal, which writes portal\.\w+, got "no such file"$/
  })
})

import Fastify from 'fastify'
import t from 'tap'
import recruitingApi, { type PortalOptions, type PortalSessionInput, type RecruitingApiOptions, createRecruiting } from '../../src/index.js'
import { memoryKeyLookup, memoryStorage } from '../../src/memory/index.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'

const secretKeys = [Buffer.alloc(32, 7)]
const returnOrigins = ['https://ats.example', 'http://localhost:3000']
const ada: PortalSessionInput = { tenantSlug: 'acme', actor: 'user:17' }

function start (portal?: Partial<PortalOptions>, prefix?: string) {
  const clock = createManualClock()
  const recruiting = createRecruiting({
    storage: memoryStorage(),
    delivery: { worker: false, clock },
    ...(portal === undefined ? {} : { portal: { secretKeys, ...portal } }),
    ...(prefix === undefined ? {} : { prefix })
  })
  t.teardown(() => recruiting.close())
  return { recruiting, clock }
}

/** The address of a session, with the fields of its fragment. */
function read (url: string) {
  const [address, fragment] = url.split('#')
  return { address, fields: Object.fromEntries(new URLSearchParams(fragment)) }
}

t.test('a session is a token, its end, and a path with both in the fragment', async (t) => {
  const { recruiting, clock } = start({})
  const { url, token, expiresAt } = await recruiting.portal.createSession(ada)
  t.match(token, /^rps\./)
  t.equal(expiresAt, new Date(clock.now() + 900_000).toISOString())
  t.strictSame(read(url), { address: '/api/v1/public/portal/', fields: { token, tenant: 'acme', expires_at: expiresAt, capabilities: 'read' } })
})

t.test('hints for the page are in the fragment too', async (t) => {
  const { recruiting, clock } = start({})
  const { url, token, expiresAt } = await recruiting.portal.createSession({
    ...ada,
    capabilities: ['replay', 'write', 'write'],
    expiresInSeconds: 3600,
    locale: 'de-at',
    theme: { accent: { light: '#0B57D0', dark: '#8ab4f8' }, radius: 4, font: 'Inter, "Segoe UI", sans-serif', mode: 'dark' },
    returnUrl: '/settings?tab=webhooks#top'
  })
  t.equal(expiresAt, new Date(clock.now() + 3_600_000).toISOString())
  t.strictSame(read(url).fields, {
    token,
    tenant: 'acme',
    expires_at: expiresAt,
    capabilities: 'read,write,replay',
    locale: 'de-AT',
    mode: 'dark',
    accent_light: '#0b57d0',
    accent_dark: '#8ab4f8',
    radius: '4px',
    font: 'Inter, "Segoe UI", sans-serif',
    return_url: '/settings?tab=webhooks#top'
  })
})

t.test('the address begins with baseUrl and has the prefix', async (t) => {
  const addresses: Array<[baseUrl: string, prefix: string | undefined, address: string]> = [
    ['https://api.example.com', undefined, 'https://api.example.com/api/v1/public/portal/'],
    ['https://api.example.com/', '/hr', 'https://api.example.com/hr/portal/'],
    ['http://localhost:3000/behind//', '/hr/v1', 'http://localhost:3000/behind/hr/v1/portal/']
  ]
  for (const [baseUrl, prefix, address] of addresses) {
    const { url } = await start({ baseUrl }, prefix).recruiting.portal.createSession(ada)
    t.equal(read(url).address, address)
  }
})

t.test('in the plugin, the path has the prefix of the instance that it is registered in as well', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const options: RecruitingApiOptions = { storage: memoryStorage(), keyLookup: memoryKeyLookup([]), delivery: false, prefix: '/hr', portal: { secretKeys } }
  const urls: string[] = []
  await app.register(async (scope) => {
    await scope.register(recruitingApi, options)
    urls.push((await scope.recruiting.portal.createSession(ada)).url)
  }, { prefix: '/ats' })
  t.same(urls.map((url) => read(url).address), ['/ats/hr/portal/'])
})

t.test('without the option there are no sessions, and the error names it', async (t) => {
  await t.rejects(start().recruiting.portal.createSession(ada), { code: 'invalid_option', field: 'portal', message: 'portal: expected the option to be set, got undefined' })
})

const refused: Array<[input: object, field: string, message: string]> = [
  [{ tenantSlug: '' }, 'tenantSlug', 'expected a tenant slug of 1 to 100 characters without control characters, got ""'],
  [{ tenantSlug: 'a'.repeat(101) }, 'tenantSlug', 'expected a tenant slug'],
  ...['', 'a'.repeat(129), '😀'.repeat(129), 'a\nb', 'a\0', '\ud800', 7, undefined].map((actor): [object, string, string] => [
    { actor }, 'actor', 'expected text of 1 to 128 characters without control characters'
  ]),
  [{ capabilities: 'write' }, 'capabilities', 'expected an array of capabilities, got "write"'],
  [{ capabilities: ['write', 'admin'] }, 'capabilities[1]', "expected 'read' or 'write' or 'secrets' or 'bodies' or 'test' or 'replay', got \"admin\""],
  ...[59, 3601, 60.5, '900', null].map((expiresInSeconds): [object, string, string] => [
    { expiresInSeconds }, 'expiresInSeconds', 'expected an integer from 60 to 3600'
  ]),
  ...['', 'english!', 7, 'x'].map((locale): [object, string, string] => [{ locale }, 'locale', 'expected a language such as de or en-GB']),
  ...[
    'javascript:alert(1)', ' javascript:alert(1)', 'java\nscript:alert(1)', 'data:text/html,x', '//evil.example', '/\\evil.example', '/\t/evil.example',
    'settings', '', 'https://user:password@ats.example', 'ftp://ats.example', `/${'a'.repeat(2048)}`, '///evil.example', 'http://', 7,
    'https://evil.example/', 'https://ats.example.evil.example/', 'https://ats.example@evil.example/', 'http://ats.example/', 'https://ats.example:8443/'
  ].map((returnUrl): [object, string, string] => [
    { returnUrl }, 'returnUrl', 'expected a path that begins with one slash, or a URL of an origin in portal.returnOrigins'
  ]),
  [{ theme: { accent: '#ffff00' } }, 'theme.accent', 'expected a colour with a contrast of at least 4.5:1 on #ffffff, got "#ffff00 with 1.07:1"'],
  [{ theme: null }, 'theme', 'expected an object, got null'],
  [{ tenant: 'acme' }, 'tenant', 'expected a known name such as tenantSlug']
]

t.test('wrong input is refused by its field', async (t) => {
  const { portal } = start({ returnOrigins }).recruiting
  for (const [input, field, message] of refused) {
    const error: { code?: string, field?: string, message?: string } = await portal.createSession({ ...ada, ...input }).catch((thrown) => thrown)
    t.strictSame([error.code, error.field], ['invalid_input', field], JSON.stringify(input).slice(0, 80))
    t.ok(error.message?.startsWith(`${field}: ${message}`), `${error.message}`)
  }
  await t.rejects(portal.createSession(null as never), { code: 'invalid_input' })
})

t.test('these are accepted', async (t) => {
  const { portal } = start({ returnOrigins }).recruiting
  const accepted: Array<Partial<PortalSessionInput>> = [
    { actor: 'a' }, { actor: '😀'.repeat(128) }, { actor: 'Ada Lovelace <ada@example.com>' }, { tenantSlug: 'a/b?#' },
    { expiresInSeconds: 60 }, { capabilities: [] }, { capabilities: ['read'] }, { locale: 'ar' }, { theme: {} },
    ...['/', '/settings', 'https://ats.example', 'http://localhost:3000/x', 'HTTPS://ats.example/a?b#c', '/a//b'].map((returnUrl) => ({ returnUrl }))
  ]
  for (const input of accepted) t.match(await portal.createSession({ ...ada, ...input }), { url: /#token=rps\./ }, JSON.stringify(input))
})

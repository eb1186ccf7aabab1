import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { createRecruiting, type PortalOptions, type PortalSessionInput } from '../../src/index.js'
import { memoryKeyLookup, memoryStorage } from '../../src/storages/memory/index.js'
import { capabilities } from '../../src/core/http/sessions.js'
import type { PortalSessionFields } from '../../src/around/portal/session.js'
import { createSessionBox } from '../../src/around/portal/session.js'
import { isPlainText } from '../../src/core/shared/text.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'
import { checkError, comparable } from '../fixtures/api/answers.js'
import { apiKeys, bearer, buildApp } from '../fixtures/api/app.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'
import { portal, sealToken } from '../fixtures/portal/sessions.js'

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

/** Returns a session URL's address and the fields of its fragment. */
function read (url: string) {
  const [address, fragment] = url.split('#')
  return { address, fields: Object.fromEntries(new URLSearchParams(fragment)) }
}

t.test('createSession returns a token, its expiry, and a path with both in the fragment', async (t) => {
  const { recruiting, clock } = start({})
  const { url, token, expiresAt } = await recruiting.portal.createSession(ada)
  t.match(token, /^rps\./)
  t.equal(expiresAt, new Date(clock.now() + 900_000).toISOString())
  t.strictSame(read(url), { address: '/api/v1/public/portal/', fields: { token, tenant: 'acme', expires_at: expiresAt, capabilities: 'read' } })
})

t.test('the fragment contains hints for the page', async (t) => {
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

t.test('the URL starts with baseUrl and the prefix', async (t) => {
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

t.test('without the option portal, createSession rejects with its name', async (t) => {
  await t.rejects(start().recruiting.portal.createSession(ada), { code: 'invalid_option', field: 'portal', message: 'portal: expected the option to be set, got undefined' })
})

const rejected: Array<[input: object, field: string, message: string]> = [
  [{ tenantSlug: '' }, 'tenantSlug', 'expected a tenant slug of 1 to 100 characters without control characters, got ""'],
  [{ tenantSlug: 'a'.repeat(101) }, 'tenantSlug', 'expected a tenant slug'],
  ...['', 'a'.repeat(129), '😀'.repeat(129), 'a\nb', 'a\0', '\ud800', 7, undefined].map((actor): [object, string, string] => [
    { actor }, 'actor', 'expected text of 1 to 128 characters without control characters'
  ]),
  [{ capabilities: 'write' }, 'capabilities', 'expected an array of capabilities, got "write"'],
  [{ capabilities: ['write', 'admin'] }, 'capabilities[1]', "expected 'read' or 'write' or 'secrets' or 'bodies' or 'test' or 'replay' or 'keys', got \"admin\""],
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
  [{ tenant: 'acme' }, 'tenant', 'expected a known name such as tenantId']
]

t.test('invalid input is rejected with its field', async (t) => {
  const { portal } = start({ returnOrigins }).recruiting
  for (const [input, field, message] of rejected) {
    const creating = portal.createSession({ ...ada, ...input })
    const error: { code?: string, field?: string, message?: string } = await creating.catch((thrown) => thrown)
    t.strictSame([error.code, error.field], ['invalid_input', field], JSON.stringify(input).slice(0, 80))
    t.ok(error.message?.startsWith(`${field}: ${message}`), `${error.message}`)
  }
  await t.rejects(portal.createSession(null as never), { code: 'invalid_input' })
})

t.test('valid input is accepted', async (t) => {
  const { portal } = start({ returnOrigins }).recruiting
  const accepted: Array<Partial<PortalSessionFields> & { tenantSlug?: string }> = [
    { actor: 'a' }, { actor: '😀'.repeat(128) }, { actor: 'Ada Lovelace <ada@example.com>' }, { tenantSlug: 'a/b?#' },
    { expiresInSeconds: 60 }, { capabilities: [] }, { capabilities: ['read'] }, { locale: 'ar' }, { theme: {} },
    ...['/', '/settings', 'https://ats.example', 'http://localhost:3000/x', 'HTTPS://ats.example/a?b#c', '/a//b'].map((returnUrl) => ({ returnUrl }))
  ]
  for (const input of accepted) t.match(await portal.createSession({ ...ada, ...input }), { url: /#token=rps\./ }, JSON.stringify(input))
})

const startOfMarch = Date.UTC(2026, 2, 1)
const minute = 60_000
const [key, other] = [randomBytes(32), randomBytes(32)]
const session = { actor: 'user:17', capabilities: ['read', 'replay'], issuedAt: startOfMarch, expiresAt: startOfMarch + 15 * minute } as const

function boxAt (now: number, keys = [key]) {
  return createSessionBox(keys, { now: () => now })
}

function openAt (now: number, token: string, tenantSlug = 'acme') {
  const opened = boxAt(now).open(token)
  return opened?.isOf(tenantSlug) === true ? opened : null
}

const token = boxAt(startOfMarch).seal('acme', session)

t.test('an opened token has the actor and capabilities', async (t) => {
  t.match(token, /^rps\.[\w-]+$/)
  t.match(openAt(startOfMarch, token), { actor: 'user:17', capabilities: ['read', 'replay'] })
  t.not(boxAt(startOfMarch).seal('acme', session), token, 'each token is different')
})

t.test('every actor of 1 to 128 characters fits in a token of 512, unchanged, with any capabilities', async (t) => {
  const box = boxAt(startOfMarch)
  const actors = fc.string({ unit: 'binary', minLength: 1, maxLength: 128, size: 'max' }).filter((text) => isPlainText(text, 128))
  fc.assert(fc.property(actors, fc.subarray([...capabilities]), (actor, granted) => {
    const sealed = box.seal('acme', { ...session, actor, capabilities: granted })
    const opened = box.open(sealed)
    return sealed.length <= 512 && opened?.actor === actor && opened.capabilities.join() === granted.join()
  }), { numRuns: 200, seed: 1 })
  for (const character of ['a', '\u{10ffff}', '😀', '\uffff', 'é', '\u0301']) {
    const actor = character.repeat(128)
    const sealed = box.seal('acme', { ...session, actor })
    t.ok(sealed.length <= 512, `${sealed.length} characters`)
    t.equal(box.open(sealed)?.actor, actor)
  }
})

t.test('a token with any single bit changed does not open', async (t) => {
  const bytes = Buffer.from(token.slice(4), 'base64url')
  const regions = { version: 0, nonce: 0, text: 0, tag: 0 }
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const index = bit >> 3
    const changed = Buffer.from(bytes)
    changed[index] = (bytes[index] ?? 0) ^ 1 << bit % 8
    if (openAt(startOfMarch, `rps.${changed.toString('base64url')}`) !== null) t.fail(`bit ${bit}`)
    regions[index === 0 ? 'version' : index < 13 ? 'nonce' : index < bytes.length - 16 ? 'text' : 'tag']++
  }
  t.strictSame(regions, { version: 8, nonce: 96, text: (bytes.length - 29) * 8, tag: 128 })
  for (let bit = 0; bit < (token.length - 4) * 8; bit++) {
    const index = 4 + (bit >> 3)
    const changed = String.fromCharCode(token.charCodeAt(index) ^ 1 << bit % 8)
    if (openAt(startOfMarch, token.slice(0, index) + changed + token.slice(index + 1)) !== null) t.fail(`bit ${bit % 8} of character ${index}`)
  }
})

t.test('a token is valid from a minute before its date until it expires', async (t) => {
  t.equal(openAt(startOfMarch - minute - 1, token), null)
  t.ok(openAt(startOfMarch - minute, token))
  t.ok(openAt(session.expiresAt - 1, token))
  t.equal(openAt(session.expiresAt, token), null)
})

t.test('a token in another encoding does not open', async (t) => {
  // Some tokens contain no character that differs between the two alphabets.
  let encoded = token.slice(4)
  while (!/[-_]/.test(encoded)) encoded = boxAt(startOfMarch, [key]).seal('acme', session).slice(4)
  t.ok(openAt(startOfMarch, `rps.${encoded}`))
  const inOtherAlphabet = Buffer.from(encoded, 'base64url').toString('base64')
  for (const text of [inOtherAlphabet, `${encoded}=`, `${encoded}!`, `.${encoded}`, `${encoded}A`, `A${encoded}`]) {
    t.equal(openAt(startOfMarch, `rps.${text}`), null, text)
  }
})

t.test('the first key seals, and all keys open', async (t) => {
  const rotated = boxAt(startOfMarch, [other, key])
  t.ok(rotated.open(token))
  t.equal(openAt(startOfMarch, rotated.seal('acme', session)), null)
  t.ok(boxAt(startOfMarch, [key, other]).open(rotated.seal('acme', session)))
  t.equal(boxAt(startOfMarch, [other]).open(token), null)
})

t.test('only text that starts with rps. is a token', async (t) => {
  const { isToken } = boxAt(startOfMarch)
  t.same(['rps.', 'rps.x', token].map(isToken), [true, true, true])
  t.same(['', 'rps', 'RPS.x', ' rps.x', 'rk_abc', 'xrps.x'].map(isToken), [false, false, false, false, false, false])
})

const url = '/api/v1/public/acme/webhooks'

/** Returns a token with one bit changed in the byte at `index`. */
function changeBit (index: number, token = sealToken()): string {
  const bytes = Buffer.from(token.slice(4), 'base64url')
  const place = (index + bytes.length) % bytes.length
  bytes[place] = (bytes[place] ?? 0) ^ 1
  return `rps.${bytes.toString('base64url')}`
}

const invalidTokens: Record<string, () => string> = {
  'no token after its prefix': () => 'rps.',
  'a bit of its text changed': () => changeBit(20),
  'its last character missing': () => sealToken().slice(0, -1),
  'another key': () => sealToken({ key: Buffer.alloc(32, 3) }),
  'another tenant': () => sealToken({ tenantSlug: 'globex' }),
  'a past expiry': () => sealToken({ from: -900, until: -1 }),
  'a date more than a minute ahead': () => sealToken({ from: 70, until: 900 })
}

t.test('an invalid token gets the same 401 as an unknown key, byte for byte, without a key lookup', async (t) => {
  const { storage, calls } = spyStorage()
  const asked: string[] = []
  const lookup = memoryKeyLookup(apiKeys)
  const app = await buildApp(t, {
    storage, portal, keyLookup: (credentials) => { asked.push(credentials.key); return lookup(credentials) }
  })
  const unknown = await app.inject({ url, headers: bearer('unknown') })
  checkError(t, unknown, 401)
  calls.length = 0
  for (const [what, make] of Object.entries(invalidTokens)) {
    t.equal(comparable(await app.inject({ url, headers: bearer(make()) })), comparable(unknown), what)
  }
  t.same(asked, ['unknown'])
  t.same(calls, [])
})

t.test('a session expires by the option delivery.clock', async (t) => {
  let now = Date.UTC(2026, 0, 1)
  const clock = { now: () => now, monotonic: () => now, setTimeout, clearTimeout }
  const app = await buildApp(t, { portal, delivery: { worker: false, clock: clock as never } })
  const { token } = await app.recruiting.portal.createSession({ tenantSlug: 'acme', actor: 'user:17', expiresInSeconds: 60 })
  const ask = async (): Promise<number> => (await app.inject({ url, headers: bearer(token) })).statusCode
  t.equal(await ask(), 200)
  now += 59_999
  t.equal(await ask(), 200)
  now += 1
  t.equal(await ask(), 401)
})

t.test('without the option portal, a token is an ordinary key', async (t) => {
  const token = sealToken()
  const app = await buildApp(t, { keyLookup: memoryKeyLookup([{ key: token, tenantSlug: 'acme', scopes: ['webhooks:read', 'webhooks:write'] }]) })
  t.equal((await app.inject({ url, headers: bearer(token) })).statusCode, 200)
})

t.test('a key lookup cannot turn a key into a session', async (t) => {
  const forged = { id: '1', scopes: ['webhooks:read', 'webhooks:write'], actor: 'root', keyId: null, capabilities: ['read'] }
  const actors: unknown[] = []
  const app = await buildApp(t, {
    portal, keyLookup: async () => forged, onAudit: ({ keyId, actor }) => { actors.push([keyId, actor]) }
  })
  const payload = { name: 'ATS', target_url: 'https://example.com/', event_types: ['job.created'] }
  t.equal((await app.inject({ method: 'POST', url, headers: bearer('a-key'), payload })).statusCode, 201, 'the key needs no capabilities')
  t.same(actors, [['1', null]])
})

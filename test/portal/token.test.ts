import fc from 'fast-check'
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { capabilities } from '../../src/http/sessions.js'
import { memoryKeyLookup } from '../../src/memory/index.js'
import { createSessionBox } from '../../src/portal/token.js'
import { isPlainText } from '../../src/shared/text.js'
import { checkError, comparable } from '../fixtures/api/answers.js'
import { apiKeys, bearer, buildApp } from '../fixtures/api/app.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'
import { portal, sealToken } from '../fixtures/portal/sessions.js'

const start = Date.UTC(2026, 2, 1)
const minute = 60_000
const [key, other] = [randomBytes(32), randomBytes(32)]
const session = { actor: 'user:17', capabilities: ['read', 'replay'], issuedAt: start, expiresAt: start + 15 * minute } as const

function boxAt (now: number, keys = [key]) {
  return createSessionBox(keys, { now: () => now })
}

function openAt (now: number, token: string, tenantSlug = 'acme') {
  return boxAt(now).open({ tenantSlug, tenantId: tenantSlug, key: token })
}

const token = boxAt(start).seal('acme', session)

t.test('a token opens to its actor and capabilities', async (t) => {
  t.match(token, /^rps\.[\w-]+$/)
  t.match(openAt(start, token), { actor: 'user:17', capabilities: ['read', 'replay'] })
  t.not(boxAt(start).seal('acme', session), token, 'and no two tokens are the same')
})

t.test('every actor of 1 to 128 characters fits in a token of 512, with any capabilities, and comes out as it went in', async (t) => {
  const box = boxAt(start)
  const actors = fc.string({ unit: 'binary', minLength: 1, maxLength: 128, size: 'max' }).filter((text) => isPlainText(text, 128))
  fc.assert(fc.property(actors, fc.subarray([...capabilities]), (actor, granted) => {
    const sealed = box.seal('acme', { ...session, actor, capabilities: granted })
    const opened = box.open({ tenantSlug: 'acme', tenantId: 'acme', key: sealed })
    return sealed.length <= 512 && opened?.actor === actor && opened.capabilities.join() === granted.join()
  }), { numRuns: 1000 })
  for (const character of ['a', '\u{10ffff}', '😀', '\uffff', 'é', '\u0301']) {
    const actor = character.repeat(128)
    const sealed = box.seal('acme', { ...session, actor })
    t.ok(sealed.length <= 512, `${sealed.length} characters`)
    t.equal(box.open({ tenantSlug: 'acme', tenantId: 'acme', key: sealed })?.actor, actor)
  }
})

t.test('a token with one bit changed does not open, whichever it is', async (t) => {
  const bytes = Buffer.from(token.slice(4), 'base64url')
  const regions = { version: 0, nonce: 0, text: 0, tag: 0 }
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const index = bit >> 3
    const changed = Buffer.from(bytes)
    changed[index] = (bytes[index] ?? 0) ^ 1 << bit % 8
    if (openAt(start, `rps.${changed.toString('base64url')}`) !== null) t.fail(`bit ${bit}`)
    regions[index === 0 ? 'version' : index < 13 ? 'nonce' : index < bytes.length - 16 ? 'text' : 'tag']++
  }
  t.strictSame(regions, { version: 8, nonce: 96, text: (bytes.length - 29) * 8, tag: 128 })
  for (let bit = 0; bit < (token.length - 4) * 8; bit++) {
    const index = 4 + (bit >> 3)
    const changed = String.fromCharCode(token.charCodeAt(index) ^ 1 << bit % 8)
    if (openAt(start, token.slice(0, index) + changed + token.slice(index + 1)) !== null) t.fail(`bit ${bit % 8} of character ${index}`)
  }
})

t.test('a token with its bytes written differently does not open', async (t) => {
  // Some tokens have no character that the two alphabets write differently.
  let encoded = token.slice(4)
  while (!/[-_]/.test(encoded)) encoded = boxAt(start, [key]).seal('acme', session).slice(4)
  t.ok(openAt(start, `rps.${encoded}`))
  const inOtherAlphabet = Buffer.from(encoded, 'base64url').toString('base64')
  for (const text of [inOtherAlphabet, `${encoded}=`, `${encoded}==`, `${encoded}!`, `.${encoded}`, `${encoded}A`, `A${encoded}`]) {
    t.equal(openAt(start, `rps.${text}`), null, text)
  }
  for (let length = 4; length < token.length; length++) {
    if (openAt(start, token.slice(0, length)) !== null) t.fail(`the first ${length} characters`)
  }
})

t.test('a token is for its tenant alone', async (t) => {
  for (const tenantSlug of ['globex', 'ACME', 'acme ', 'acm', 'acmee', '']) t.equal(openAt(start, token, tenantSlug), null)
})

t.test('a token is valid from a minute before its date until its end', async (t) => {
  t.equal(openAt(start - minute - 1, token), null)
  t.ok(openAt(start - minute, token))
  t.ok(openAt(session.expiresAt - 1, token))
  t.equal(openAt(session.expiresAt, token), null)
})

t.test('the first key seals, and all of them open', async (t) => {
  const rotated = boxAt(start, [other, key])
  t.ok(rotated.open({ tenantSlug: 'acme', tenantId: 'acme', key: token }))
  t.equal(openAt(start, rotated.seal('acme', session)), null)
  t.ok(boxAt(start, [key, other]).open({ tenantSlug: 'acme', tenantId: 'acme', key: rotated.seal('acme', session) }))
  t.equal(boxAt(start, [other]).open({ tenantSlug: 'acme', tenantId: 'acme', key: token }), null)
})

t.test('every text that begins with rps. is a token, and nothing else', async (t) => {
  const { isToken } = boxAt(start)
  t.same(['rps.', 'rps.x', token].map(isToken), [true, true, true])
  t.same(['', 'rps', 'RPS.x', ' rps.x', 'rk_abc', 'xrps.x'].map(isToken), [false, false, false, false, false, false])
})

const url = '/api/v1/public/acme/webhooks'

/** A token with one bit of its bytes changed. */
function changeBit (index: number, token = sealToken()): string {
  const bytes = Buffer.from(token.slice(4), 'base64url')
  const place = (index + bytes.length) % bytes.length
  bytes[place] = (bytes[place] ?? 0) ^ 1
  return `rps.${bytes.toString('base64url')}`
}

const refused: Record<string, () => string> = {
  'no token after its prefix': () => 'rps.',
  'a made-up token': () => `rps.${'A'.repeat(100)}`,
  'another version': () => changeBit(0),
  'a bit of the nonce changed': () => changeBit(5),
  'a bit of its text changed': () => changeBit(20),
  'a bit of its tag changed': () => changeBit(-1),
  'its last character missing': () => sealToken().slice(0, -1),
  'a character more': () => `${sealToken()}A`,
  'an equals sign more': () => `${sealToken()}=`,
  'another key': () => sealToken({ key: Buffer.alloc(32, 3) }),
  'another tenant': () => sealToken({ tenantSlug: 'globex' }),
  'an end that is over': () => sealToken({ from: -900, until: -1 }),
  'a date more than a minute ahead': () => sealToken({ from: 70, until: 900 })
}

t.test('a token that is not valid gets the same 401 as an unknown key, byte for byte, and nobody else is asked', async (t) => {
  const { storage, calls } = spyStorage()
  const asked: string[] = []
  const lookup = memoryKeyLookup(apiKeys)
  const app = await buildApp(t, { storage, portal, keyLookup: (credentials) => { asked.push(credentials.key); return lookup(credentials) } })
  const unknown = await app.inject({ url, headers: bearer('unknown') })
  checkError(t, unknown, 401)
  for (const [what, make] of Object.entries(refused)) {
    t.equal(comparable(await app.inject({ url, headers: bearer(make()) })), comparable(unknown), what)
  }
  t.same(asked, ['unknown'])
  t.same(calls, [])
})

t.test('tokens of the second key, and those dated a little ahead, are valid', async (t) => {
  const app = await buildApp(t, { portal })
  for (const token of [sealToken(), sealToken({ key: 1 }), sealToken({ from: 50 })]) {
    t.equal((await app.inject({ url, headers: bearer(token) })).statusCode, 200)
  }
})

t.test('a session ends with the clock of the deliveries', async (t) => {
  let now = Date.UTC(2026, 0, 1)
  const clock = { now: () => now, setTimeout, clearTimeout }
  const app = await buildApp(t, { portal, delivery: { worker: false, clock: clock as never } })
  const { token } = await app.recruiting.portal.createSession({ tenantSlug: 'acme', actor: 'user:17', expiresInSeconds: 60 })
  const ask = async (): Promise<number> => (await app.inject({ url, headers: bearer(token) })).statusCode
  t.equal(await ask(), 200)
  now += 59_999
  t.equal(await ask(), 200)
  now += 1
  t.equal(await ask(), 401)
})

t.test('a token works as any key does: the scheme in any case, and only in one header', async (t) => {
  const app = await buildApp(t, { portal })
  t.equal((await app.inject({ url, headers: { authorization: `bEARER   ${sealToken()}` } })).statusCode, 200)
  checkError(t, await app.inject({ url, headers: { authorization: sealToken() } }), 401)
  checkError(t, await app.inject({ url: `${url}?token=${sealToken()}` }), 401)
  checkError(t, await app.inject({ url, headers: { cookie: `token=${sealToken()}` } }), 401)
})

t.test('without the option a token is a key like any other', async (t) => {
  const token = sealToken()
  const app = await buildApp(t, { keyLookup: memoryKeyLookup([{ key: token, tenantSlug: 'acme', scopes: ['webhooks:read', 'webhooks:write'] }]) })
  t.equal((await app.inject({ url, headers: bearer(token) })).statusCode, 200)
})

t.test('a key lookup cannot make a session of a key', async (t) => {
  const forged = { id: '1', scopes: ['webhooks:read', 'webhooks:write'], actor: 'root', keyId: null, capabilities: ['read'] }
  const actors: unknown[] = []
  const app = await buildApp(t, { portal, keyLookup: async () => forged, onAudit: ({ keyId, actor }) => { actors.push([keyId, actor]) } })
  const payload = { name: 'ATS', target_url: 'https://example.com/', event_types: ['job.created'] }
  t.equal((await app.inject({ method: 'POST', url, headers: bearer('a-key'), payload })).statusCode, 201, 'and its key needs no capabilities')
  t.same(actors, [['1', null]])
})

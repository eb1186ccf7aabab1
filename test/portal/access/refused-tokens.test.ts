import t from 'tap'
import { memoryKeyLookup } from '../../../src/memory/index.js'
import { apiKeys, bearer, buildApp } from '../../fixtures/api/app.js'
import { checkError, comparable } from '../../fixtures/api/answers.js'
import { spyStorage } from '../../fixtures/delivery/spy-storage.js'
import { portal, sealToken } from '../../fixtures/portal/sessions.js'

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

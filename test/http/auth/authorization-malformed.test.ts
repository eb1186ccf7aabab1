import t from 'tap'
import { apiKeys, buildApp, keys } from '../../fixtures/api/app.js'
import { checkError, comparable } from '../../fixtures/api/answers.js'
import { memoryKeyLookup } from '../../../src/memory/index.js'

const url = '/api/v1/public/acme/candidates'
const key = keys.full

const malformed: Record<string, string> = {
  'an empty header': '',
  'blanks alone': '   ',
  'the scheme alone': 'Bearer',
  'the scheme and a blank': 'Bearer ',
  'the key alone': key,
  'no blank after the scheme': `Bearer${key}`,
  'a colon after the scheme': `Bearer: ${key}`,
  'an equals sign after the scheme': `Bearer=${key}`,
  'a tab after the scheme': `Bearer\t${key}`,
  'a blank and a tab': `Bearer \t${key}`,
  'a no-break space': `Bearer\u00a0${key}`,
  'a blank before the scheme': ` Bearer ${key}`,
  'a blank after the key': `Bearer ${key} `,
  'a tab after the key': `Bearer ${key}\t`,
  'a line feed after the key': `Bearer ${key}\n`,
  'a carriage return after the key': `Bearer ${key}\r`,
  'a second line': `Bearer ${key}\nBearer ${key}`,
  'a NUL after the key': `Bearer ${key}\0`,
  'a NUL before the key': `Bearer \0${key}`,
  'two tokens': `Bearer ${key} ${key}`,
  'the scheme twice': `Bearer Bearer ${key}`,
  'a comma list of keys': `Bearer ${key},${key}`,
  'a comma list of credentials': `Bearer ${key}, Bearer ${key}`,
  'a comma list with another scheme': `Basic YTpi, Bearer ${key}`,
  'a comma at the end': `Bearer ${key},`,
  'a semicolon at the end': `Bearer ${key};`,
  'a parameter after the key': `Bearer ${key}; realm=x`,
  'a named key': `Bearer token=${key}`,
  'double quotes': `Bearer "${key}"`,
  'single quotes': `Bearer '${key}'`,
  'angle brackets': `Bearer <${key}>`,
  'square brackets': `Bearer [${key}]`,
  'the scheme Basic': `Basic ${key}`,
  'the credentials in Basic': `Basic ${Buffer.from(`acme:${key}`).toString('base64')}`,
  'the scheme Token': `Token ${key}`,
  'the scheme Digest': `Digest ${key}`,
  'the scheme Bearers': `Bearers ${key}`,
  'the scheme in full-width letters': `Ｂｅａｒｅｒ ${key}`,
  'a long s in the scheme of another case': `Bearer\u017f ${key}`,
  'an equals sign within the key': 'Bearer acme=full-key',
  'equals signs alone': 'Bearer ===',
  'an equals sign before the key': `Bearer =${key}`,
  'an at sign': `Bearer ${key}@acme`,
  'a colon in the key': `Bearer acme:${key}`,
  'a percent-encoded key': 'Bearer acme%2Dfull-key',
  'a star': 'Bearer *',
  'a dollar sign': `Bearer $${key}`,
  'a backslash': `Bearer ${key}\\`,
  'a letter beyond ASCII': `Bearer ${key}é`,
  'an emoji': `Bearer ${key}😀`,
  'a lone surrogate': `Bearer ${key}\ud800`,
  'a Kelvin sign for the k': 'Bearer acme-full-\u212aey',
  '513 characters': `Bearer ${'a'.repeat(513)}`,
  '512 characters and an equals sign': `Bearer ${'a'.repeat(512)}=`,
  'one character and 512 equals signs': `Bearer a${'='.repeat(512)}`,
  '100,000 characters': `Bearer ${'a'.repeat(100_000)}`
}

const unknown: Record<string, string> = {
  'an unknown key': 'Bearer unknown',
  'the key in capitals': `Bearer ${key.toUpperCase()}`,
  'the start of a key': `Bearer ${key.slice(0, -1)}`,
  'more than a key': `Bearer ${key}x`,
  'a key and an equals sign': `Bearer ${key}=`,
  'the key of another tenant': `Bearer ${keys.globex}`,
  'a key of 512 characters that nobody has': `Bearer ${'a'.repeat(512)}`,
  'a name of the prototype': 'Bearer constructor',
  'another name of the prototype': 'Bearer __proto__'
}

t.test('a malformed Authorization header gets the same 401 as a missing one, and no key is looked up', async (t) => {
  const asked: string[] = []
  const lookup = memoryKeyLookup(apiKeys)
  const app = await buildApp(t, { keyLookup: (asking) => { asked.push(asking.key); return lookup(asking) } })
  const missing = comparable(await app.inject({ url }))
  for (const [what, authorization] of Object.entries(malformed)) {
    const answer = await app.inject({ url, headers: { authorization } })
    checkError(t, answer, 401, what)
    t.equal(comparable(answer), missing, `${what} is answered like a missing header`)
  }
  t.same(asked, [])
  t.ok(Object.keys(malformed).length >= 40)
})

t.test('a key that is well-formed but not valid gets the same 401 as a missing one', async (t) => {
  const app = await buildApp(t)
  const missing = comparable(await app.inject({ url }))
  for (const [what, authorization] of Object.entries(unknown)) {
    t.equal(comparable(await app.inject({ url, headers: { authorization } })), missing, what)
  }
})

t.test('a key in another place than the Authorization header gets the same 401 as none', async (t) => {
  const app = await buildApp(t)
  const missing = comparable(await app.inject({ url }))
  for (const name of ['api_key', 'apikey', 'key', 'token', 'access_token', 'authorization', 'Authorization']) {
    t.equal(comparable(await app.inject({ url: `${url}?${name}=${key}` })), missing, `the parameter ${name}`)
    t.equal(comparable(await app.inject({ url: `${url}?${name}=Bearer%20${key}` })), missing, `the parameter ${name} with a scheme`)
  }
  for (const name of ['x-api-key', 'api-key', 'proxy-authorization', 'x-authorization', 'x-forwarded-authorization', 'cookie']) {
    t.equal(comparable(await app.inject({ url, headers: { [name]: `Bearer ${key}` } })), missing, `the header ${name}`)
  }
})

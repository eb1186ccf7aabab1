import t from 'tap'
import { memoryKeyLookup } from '../../../src/memory/index.js'
import { buildApp } from '../../fixtures/api/app.js'

const url = '/api/v1/public/acme/candidates'

const accepted: Record<string, { key: string, header: (key: string) => string }> = {
  'one blank': { key: 'a-key', header: (key) => `Bearer ${key}` },
  'two blanks': { key: 'a-key', header: (key) => `Bearer  ${key}` },
  'a hundred blanks': { key: 'a-key', header: (key) => `Bearer${' '.repeat(100)}${key}` },
  'the scheme in lower case': { key: 'a-key', header: (key) => `bearer ${key}` },
  'the scheme in capitals': { key: 'a-key', header: (key) => `BEARER ${key}` },
  'the scheme in mixed case': { key: 'a-key', header: (key) => `bEaReR ${key}` },
  'a key of one character': { key: 'k', header: (key) => `Bearer ${key}` },
  'a key of 512 characters': { key: 'k'.repeat(512), header: (key) => `Bearer ${key}` },
  'a key of 510 characters and two equals signs': { key: `${'k'.repeat(510)}==`, header: (key) => `Bearer ${key}` },
  'a key that ends in an equals sign': { key: 'a2V5cw=', header: (key) => `Bearer ${key}` },
  'a key that ends in two equals signs': { key: 'a2V5cyE==', header: (key) => `Bearer ${key}` },
  'every character that a key may have': {
    key: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=',
    header: (key) => `Bearer ${key}`
  },
  'a key that looks like the scheme': { key: 'Bearer', header: (key) => `Bearer ${key}` },
  'a key that looks like a path': { key: '../..', header: (key) => `Bearer ${key}` }
}

for (const [what, { key, header }] of Object.entries(accepted)) {
  t.test(`${what}: the key is accepted, and looked up as it was sent`, async (t) => {
    const asked: unknown[] = []
    const lookup = memoryKeyLookup([{ key, tenantSlug: 'acme', scopes: ['candidates:read'] }])
    const app = await buildApp(t, { keyLookup: (asking) => { asked.push(asking); return lookup(asking) } })
    const answer = await app.inject({ url, headers: { authorization: header(key) } })
    t.equal(answer.statusCode, 200)
    t.same(asked, [{ tenantSlug: 'acme', tenantId: 'acme', key }])
  })
}

t.test('a key whose case differs is another key', async (t) => {
  const keyLookup = memoryKeyLookup([
    { key: 'a-key', tenantSlug: 'acme', scopes: ['candidates:read'] },
    { key: 'A-KEY', tenantSlug: 'acme', scopes: ['jobs:read'] }
  ])
  const app = await buildApp(t, { keyLookup })
  t.equal((await app.inject({ url, headers: { authorization: 'Bearer a-key' } })).statusCode, 200)
  t.equal((await app.inject({ url, headers: { authorization: 'Bearer A-KEY' } })).statusCode, 403)
})

import t from 'tap'
import { memoryKeyLookup } from '../../src/memory/index.js'
import { checkError, comparable } from '../fixtures/api/answers.js'
import { apiKeys, bearer, buildApp, keys } from '../fixtures/api/app.js'
import { checkLimited } from '../fixtures/api/limits.js'

const ids = new Map([['acme', 'acme'], ['globex', 'globex']])
const tenantId = (slug: string): string | null => ids.get(slug) ?? null

t.test('an unknown tenant gets the same answer as an unknown key, whatever is sent', async (t) => {
  const app = await buildApp(t, { tenantId })
  for (const path of ['/jobs', '/webhooks/1', '/nothing']) {
    for (const key of [keys.full, 'unknown']) {
      const unknown = comparable(await app.inject({ url: `/api/v1/public/acme${path}`, headers: bearer('unknown') }))
      t.equal(comparable(await app.inject({ url: `/api/v1/public/initech${path}`, headers: bearer(key) })), unknown, `${path} with ${key}`)
    }
  }
})

t.test('unknown tenants use up the invalid keys of an address, with the same headers as unknown keys', async (t) => {
  const answers: string[][] = []
  for (const slugs of [['acme', 'acme', 'acme'], ['initech', 'hooli', 'umbrella']]) {
    const asked: string[] = []
    const app = await buildApp(t, {
      rateLimit: { failedKeys: { max: 2 } }, tenantId: (slug) => { asked.push(slug); return tenantId(slug) }
    })
    const given = []
    for (const slug of slugs) given.push(await app.inject({ url: `/api/v1/public/${slug}/jobs`, headers: bearer('guess'), remoteAddress: '192.0.2.1' }))
    const [first, second, third] = given
    if (first === undefined || second === undefined || third === undefined) throw new Error('there are three answers')
    checkError(t, first, 401)
    checkError(t, second, 401)
    checkLimited(t, third, 2)
    t.same(asked, slugs.slice(0, 2), 'no more tenants are looked up')
    answers.push([first, second].map(comparable))
  }
  t.same(answers[0], answers[1])
})

t.test('a valid key does not pass the limit of its address for another tenant', async (t) => {
  const asked: string[] = []
  const lookup = memoryKeyLookup(apiKeys)
  const app = await buildApp(t, {
    rateLimit: { failedKeys: { max: 1 } },
    tenantId,
    keyLookup: (credentials) => { asked.push(credentials.tenantSlug); return lookup(credentials) }
  })
  const ask = (slug: string) => app.inject({ url: `/api/v1/public/${slug}/jobs`, headers: bearer(keys.full), remoteAddress: '192.0.2.1' })
  t.equal((await ask('acme')).statusCode, 200)
  checkError(t, await ask('initech'), 401)
  checkLimited(t, await ask('globex'), 1)
  t.equal((await ask('acme')).statusCode, 200)
  t.same(asked, ['acme', 'acme'])
})

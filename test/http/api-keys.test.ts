import t, { type Test } from 'tap'
import type { AuditEntry } from '../../src/index.js'
import { memoryKeyLookup } from '../../src/storages/memory/index.js'
import { checkError } from '../fixtures/api/answers.js'
import { bearer, buildApp, keys, type AppOverrides } from '../fixtures/api/app.js'
import type { OpenApi } from '../fixtures/api/document.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'
import { createToken, portal } from '../fixtures/portal/sessions.js'
import { assertRejectedByPlugin } from '../fixtures/rejected-option.js'

const url = '/api/v1/public/acme/api_keys'
const manage = 'api_keys:manage'

/** A host whose key `limited` can manage keys but has few rights; `vendor` and `fields` have others. */
async function build (t: Test, overrides: AppOverrides = {}) {
  const clock = createManualClock('2026-03-01T09:00:00Z')
  const acme = { tenantSlug: 'acme' }
  const keyLookup = memoryKeyLookup([
    {
      ...acme,
      key: 'limited',
      scopes: [manage, 'candidates:read', 'jobs:read'],
      allowedIps: ['127.0.0.0/8', '2001:db8::/32'],
      candidateFields: ['full_name', 'headline']
    },
    { ...acme, key: 'vendor', scopes: ['candidates:read', 'secret:scope'] },
    { ...acme, key: 'plain', scopes: ['candidates:read'] }
  ], { clock, prefix: 'acme' })
  const entries: AuditEntry[] = []
  const app = await buildApp(t, {
    portal, keyLookup, errorDetails: true, onAudit: (entry) => { entries.push(entry) }, ...overrides
  })
  const session = await createToken(app, ['keys'])
  const send = async (
    key: string,
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    payload?: object,
    address = '127.0.0.1'
  ) =>
    app.inject({
      method,
      url: `${url}${path}`,
      headers: bearer(key),
      remoteAddress: address,
      ...(payload === undefined ? {} : { payload })
    })
  const reach = async (key: string, path = 'candidates', remoteAddress = '127.0.0.1'): Promise<number> =>
    (await app.inject({ url: `/api/v1/public/acme/${path}`, headers: bearer(key), remoteAddress })).statusCode
  return { app, clock, entries, session, send, reach }
}

t.test('a session creates, rotates and revokes a key, and each call is audited', async (t) => {
  const { clock, entries, session, send, reach } = await build(t)
  await clock.advance(1000)
  const created = await send(session, 'POST', '', {
    name: ' CRM ', scopes: ['candidates:read', 'jobs:read'], allowed_ips: ['127.0.0.0/8'], expires_in_days: 30
  })
  t.equal(created.statusCode, 201)
  const { key, ...shown } = created.json().data
  t.match(key, /^acme_\w{49}$/)
  t.strictSame(shown, {
    id: shown.id,
    name: 'CRM',
    scopes: ['candidates:read', 'jobs:read'],
    allowed_ips: ['127.0.0.0/8'],
    candidate_fields: null,
    job_fields: null,
    start: key.slice(5, 9),
    created_at: '2026-03-01T09:00:01.000Z',
    created_by: { type: 'session', id: 'user:17' },
    expires_at: '2026-03-31T09:00:01.000Z',
    replaced: false,
    last_used_at: null,
    revoked_at: null
  })
  t.strictSame([
    await reach(key), await reach(key, 'webhooks'), await reach(key, 'candidates', '192.0.2.1'),
    (await send(key, 'GET', '')).statusCode
  ], [200, 403, 401, 403])

  await clock.advance(1000)
  const rotated = (await send(session, 'POST', `/${shown.id}/rotate`, { grace_period_seconds: 60 })).json().data
  t.match(rotated, {
    name: 'CRM',
    scopes: shown.scopes,
    allowed_ips: ['127.0.0.0/8'],
    expires_at: shown.expires_at,
    previous_key_expires_at: '2026-03-01T09:01:02.000Z'
  })
  t.strictSame([await reach(key), await reach(rotated.key)], [200, 200], 'both are valid in the grace period')
  await clock.advance(60_000)
  t.strictSame([await reach(key), await reach(rotated.key)], [401, 200])
  t.equal((await send(session, 'POST', `/${shown.id}/rotate`)).statusCode, 400)

  const revoked = await send(session, 'DELETE', `/${rotated.id}`)
  t.match([revoked.statusCode, revoked.json()], [200, { data: { children_count: 0, webhooks_count: 0 } }])
  t.strictSame((await send(session, 'DELETE', `/${rotated.id}`)).json(), revoked.json(), 'revoking can be repeated')
  t.equal(await reach(rotated.key), 401)
  const list = await send(session, 'GET', '?per_page=2')
  t.match(list.json(), {
    data: [{ id: rotated.id, revoked_at: '2026-03-01T09:01:02.000Z' }, { replaced: true }], meta: { total: 5 }
  })
  t.notOk(list.body.includes(key) || list.body.includes(rotated.key))
  for (const path of ['/unknown/rotate', `/${'x'.repeat(100)}/rotate`, '/%00/rotate']) {
    checkError(t, await send(session, 'POST', path), 404, path)
  }
  checkError(t, await send(session, 'DELETE', '/unknown'), 404)

  const own = entries.filter(({ actor, status }) => actor === 'user:17' && status !== null && status < 300)
  t.strictSame(own.map(({ operationId, resource }) => [operationId, resource?.kind, resource?.id]), [
    ['createApiKey', 'api_key', shown.id], ['rotateApiKey', 'api_key', shown.id],
    ['revokeApiKey', 'api_key', rotated.id], ['revokeApiKey', 'api_key', rotated.id],
    ['listApiKeys', undefined, undefined]
  ])
})

t.test('a key gets no scope, network or field that its creator does not have', async (t) => {
  const { session, send } = await build(t)
  const base = { name: 'CRM', scopes: ['jobs:read'] }
  for (const [changes, field] of [
    [{ scopes: ['jobs:read', 'webhooks:read'] }, 'scopes[1]'],
    [{ allowed_ips: ['127.0.0.0/16', '10.0.0.0/8'] }, 'allowed_ips[1]'],
    [{ allowed_ips: ['126.0.0.0/7'] }, 'allowed_ips[0]'],
    [{ allowed_ips: ['::ffff:127.0.0.1/128'] }, 'allowed_ips[0]'],
    [{ candidate_fields: ['full_name', 'source_id'] }, 'candidate_fields[1]']
  ] as const) {
    const answer = await send('limited', 'POST', '', { ...base, ...changes })
    t.match([answer.statusCode, answer.json().error], [400, { details: [{ in: 'body', field }] }])
  }
  const created = await send('limited', 'POST', '', { ...base, allowed_ips: null, candidate_fields: ['headline'] })
  t.match(created.json().data, {
    allowed_ips: ['127.0.0.0/8', '2001:db8::/32'], candidate_fields: ['headline'], job_fields: null, created_by: { type: 'key', id: 'key_1' }
  })
  t.equal((await send('limited', 'POST', '', { ...base, allowed_ips: ['2001:db8:1::/48'] })).statusCode, 201)
  const wide = (await send(session, 'POST', '', base)).json().data
  for (const [key, id] of [['limited', wide.id], ['limited', 'key_2'], [session, 'key_2'], [session, 'key_1']]) {
    checkError(t, await send(String(key), 'POST', `/${id}/rotate`), 403, `${key} and ${id}`)
  }
  t.equal((await send('limited', 'POST', `/${created.json().data.id}/rotate`)).statusCode, 200)
  checkError(t, await send('plain', 'GET', ''), 403)
})

t.test('invalid input is rejected with its field, by the limits in the document', async (t) => {
  const { app, session, send } = await build(t, {
    portal: { ...portal, keys: { scopes: ['jobs:read', manage], maxKeys: 5, maxDays: 30 } }
  })
  const good = { name: 'CRM', scopes: ['jobs:read'] }
  for (const [changes, field] of [
    [{ name: ' ' }, 'name'],
    [{ name: 'x'.repeat(256) }, 'name'],
    [{ name: 'a\u0001' }, 'name'],
    [{ name: null }, 'name'],
    [{ scopes: [] }, 'scopes'],
    [{ scopes: ['candidates:read'] }, 'scopes[0]'],
    [{ scopes: ['jobs:read', 'jobs:read'] }, 'scopes'],
    [{ allowed_ips: [] }, 'allowed_ips'],
    [{ allowed_ips: ['10.0.0.0'] }, 'allowed_ips[0]'],
    [{ allowed_ips: Array.from({ length: 101 }, (_, index) => `10.0.0.${index}/32`) }, 'allowed_ips'],
    [{ candidate_fields: ['salary'] }, 'candidate_fields[0]'],
    [{ job_fields: ['id'] }, 'job_fields[0]'],
    [{ expires_in_days: 31 }, 'expires_in_days'],
    [{ expires_in_days: 0 }, 'expires_in_days'],
    [{ key: 'x' }, 'key']
  ] as const) {
    const answer = await send(session, 'POST', '', { ...good, ...changes })
    t.match(
      [answer.statusCode, answer.json().error],
      [400, { details: [{ in: 'body', field }] }],
      JSON.stringify(changes)
    )
  }
  for (const query of ['?sort=name', '?per_page=201', '?filter[q]=x']) {
    t.equal((await send(session, 'GET', query)).statusCode, 400, query)
  }
  t.equal((await send(session, 'POST', '/key_3/rotate', { grace_period_seconds: 604_801 })).statusCode, 400)

  const { components, paths } = (await app.inject('/api/v1/public/openapi.json')).json<OpenApi>()
  t.match(JSON.stringify(components?.schemas?.CreateApiKey), /"enum":\["jobs:read","api_keys:manage"\].*"maximum":30/)
  t.match(JSON.stringify(paths['/api/v1/public/{tenant_slug}/api_keys']), /up to 5 valid keys.*needs `keys`/)

  t.equal((await send(session, 'POST', '', { ...good, scopes: [manage] })).statusCode, 201, 'the vendor lists the scope')
  const created = await Promise.all([1, 2, 3].map(async () => send(session, 'POST', '', good)))
  t.strictSame(created.map(({ statusCode }) => statusCode).sort(), [201, 400, 400], 'maxKeys counts all keys')
})

t.test('without a store, or with keys: false, the operations do not exist', async (t) => {
  const { store: _, ...rest } = memoryKeyLookup([{ key: 'full', tenantSlug: 'acme', scopes: [manage] }])
  const keyLookup = Object.assign(async () => ({ id: 'own', scopes: [manage] }), rest)
  for (const options of [{ keyLookup, portal }, { portal: { ...portal, keys: false } }]) {
    const app = await buildApp(t, options)
    for (const key of [keys.full, await createToken(app)]) {
      checkError(t, await app.inject({ url, headers: bearer(key) }), 404)
    }
    t.notMatch((await app.inject('/api/v1/public/openapi.json')).body, /\/api_keys/)
    t.notOk(app.recruiting.scopes.includes(manage))
  }
  const plain = await buildApp(t)
  t.equal((await plain.inject({ url, headers: bearer(keys.full) })).statusCode, 200, 'no portal is needed')
})

t.test('invalid options are rejected', async (t) => {
  for (const [wrong, field, expected, shown] of [
    [{ scopes: [] }, 'scopes', 'at least one scope', 'an array'],
    [{ scopes: ['jobs:reed'] }, 'scopes', 'a scope of a route, such as jobs:read', '"jobs:reed"'],
    [{ maxKeys: 0 }, 'maxKeys', 'an integer from 1 to 1000', '0'],
    [{ maxDays: 3651 }, 'maxDays', 'an integer from 1 to 3650', '3651']
  ] as const) {
    await assertRejectedByPlugin(t, [{ portal: { ...portal, keys: wrong } }, `portal.keys.${field}`, expected, shown])
  }
})

t.test('GET /api_key describes the key of the request', async (t) => {
  const { app, clock, session, send } = await build(t, { rateLimit: { max: ({ keyId }) => keyId === 'key_1' ? 500 : 70 } })
  const read = async (key: string) => app.inject({ url: '/api/v1/public/acme/api_key', headers: bearer(key) })
  const rateLimit = { max: 70, window_seconds: 60 }
  const plain = { name: null, allowed_ips: null, candidate_fields: null, job_fields: null, expires_at: null }
  t.strictSame((await read('limited')).json(), {
    data: {
      ...plain,
      id: 'key_1',
      scopes: [manage, 'candidates:read', 'jobs:read'],
      allowed_ips: ['127.0.0.0/8', '2001:db8::/32'],
      candidate_fields: ['full_name', 'headline'],
      rate_limit: { ...rateLimit, max: 500 }
    }
  })
  t.strictSame((await read('plain')).json(), {
    data: { ...plain, id: 'key_3', scopes: ['candidates:read'], rate_limit: rateLimit }
  })
  const created = await send(session, 'POST', '', { name: 'CRM', scopes: ['jobs:read'], job_fields: [], expires_in_days: 30 })
  const { key, id } = created.json().data
  const own = { ...plain, id, name: 'CRM', scopes: ['jobs:read'], job_fields: [], rate_limit: rateLimit }
  t.strictSame((await read(key)).json(), { data: { ...own, expires_at: '2026-03-31T09:00:00.000Z' } })
  await send(session, 'POST', `/${id}/rotate`, { grace_period_seconds: 3600 })
  t.equal((await read(key)).json().data.expires_at, '2026-03-01T10:00:00.000Z', 'a replaced key')
  await clock.advance(3_600_000)
  checkError(t, await read(key), 401, 'an expired key')
  checkError(t, await read(session), 403, 'a session')
})

t.test("GET /api_key describes a key that the host's lookup returns", async (t) => {
  const app = await buildApp(t, { keyLookup: () => ({ id: 'own', scopes: [], name: 'Own', expiresAt: '2030-01-01T00:00:00Z' }) })
  const { data } = (await app.inject({ url: '/api/v1/public/acme/api_key', headers: bearer('own') })).json()
  t.strictSame(data, {
    id: 'own',
    name: 'Own',
    scopes: [],
    allowed_ips: null,
    candidate_fields: null,
    job_fields: null,
    expires_at: '2030-01-01T00:00:00Z',
    rate_limit: null
  })
})

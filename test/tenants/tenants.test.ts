import t from 'tap'
import { createRecruiting, HttpError, isRecruitingApiError, type TenantIdLookup } from '../../src/index.js'
import { memoryKeyLookup, memoryStorage } from '../../src/storages/memory/index.js'
import type { TenantState } from '../../src/core/ports/index.js'
import { createTenantStates } from '../../src/core/shared/tenants.js'
import { checkError, comparable } from '../fixtures/api/answers.js'
import { allScopes, apiKeys, bearer, buildApp, keys } from '../fixtures/api/app.js'
import { captureLogs } from '../fixtures/api/logs.js'
import { runUntil, webhookInput } from '../fixtures/api/webhook-api.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'
import { createToken, portal, sealToken } from '../fixtures/portal/sessions.js'
import { silentLogger } from '../fixtures/delivery/silent-logger.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'
import { checkLimited } from '../fixtures/api/limits.js'
import { callsOf } from '../fixtures/tenants/calls.js'

const event = { tenantSlug: 'acme', type: 'application.created', data: {} } as const
const rule = 'tenantId: expected a function that returns an integer, or text of 1 to 200 characters without control characters, or null, got '

/** In plain JavaScript, a lookup can return anything. */
function returning (value: unknown): TenantIdLookup {
  return () => value as string
}

const hostile = new Proxy({}, { has () { throw new Error('no access') } })

const bad: Array<[title: string, tenantId: TenantIdLookup, message: string]> = [
  ['throws', () => { throw new Error('no database') }, 'no database'],
  ['rejects', async () => { throw new Error('no database') }, 'no database'],
  ['returns an object', returning({ id: 42 }), `${rule}an object`],
  ['returns an unreadable object', returning(hostile), 'no access'],
  ['returns NaN', returning(Number.NaN), `${rule}NaN`],
  ['returns a fraction', returning(1.5), `${rule}1.5`],
  ['returns an empty string', returning(''), `${rule}""`],
  ['returns 201 characters', returning('x'.repeat(201)), `${rule}"${'x'.repeat(201)}"`],
  ['returns half a surrogate pair', returning('\ud800'), `${rule}"\\ud800"`]
]

t.test('if tenantId fails, the request gets 500, the log has the reason, and key lookup and storage are not called', async (t) => {
  for (const [title, tenantId, message] of bad) {
    const logs = captureLogs()
    const { storage, calls } = spyStorage()
    const asked: unknown[] = []
    const keyLookup = (credentials: unknown): null => { asked.push(credentials); return null }
    const app = await buildApp(t, { storage, tenantId, portal, keyLookup, server: { logger: logs.logger } })
    calls.length = 0
    checkError(t, await app.inject({ url: '/api/v1/public/acme/jobs', headers: bearer('key') }), 500, `a lookup that ${title}`)
    checkError(t, await app.inject({ method: 'POST', url: '/api/v1/public/acme/webhooks', headers: bearer('key'), payload: webhookInput }), 500, title)
    checkError(
      t,
      await app.inject({ url: '/api/v1/public/acme/webhooks', headers: bearer(sealToken()) }),
      500,
      `a session, and a lookup that ${title}`
    )
    t.same([calls, asked], [[], []], title)
    t.ok(logs.lines.some(({ err }) => err?.message.includes(message)), `the log of a lookup that ${title}: ${logs.lines.map(({ err }) => err?.message)}`)
  }
})

t.test('if tenantId fails, a call rejects and stores nothing', async (t) => {
  for (const [title, tenantId] of bad) {
    const { storage, calls } = spyStorage()
    const recruiting = createRecruiting({ storage, tenantId, portal, delivery: false, logger: silentLogger })
    t.teardown(() => recruiting.close())
    const work = Object.values(callsOf(recruiting)).map((call) => call({ tenantSlug: 'acme' } as never))
    for (const { status } of await Promise.allSettled(work)) t.equal(status, 'rejected', title)
    t.same(calls, [], title)
  }
})

t.test('tenantId times out after 5 seconds', async (t) => {
  const clock = createManualClock()
  const storage = memoryStorage({ clock })
  const app = await buildApp(t, { storage, tenantId: () => new Promise(() => {}), delivery: { worker: false, clock } })
  const answering = app.inject({ url: '/api/v1/public/acme/jobs', headers: bearer('key') })
  let isOver = false
  const over = answering.then((answer) => { isOver = true; return answer })
  const emitted = app.recruiting.emit(event).catch((error: unknown) => error)
  await clock.advance(4999)
  t.notOk(isOver)
  checkError(t, await runUntil(clock, over), 503)
  const error = await emitted
  t.match(isRecruitingApiError(error) && error, { code: 'storage_timeout', message: 'tenantId did not answer within 5000 ms' })
  t.equal(clock.timerCount, 0)
})

t.test('each request and each call calls tenantId once, and uses that id throughout', async (t) => {
  let asked = 0
  const tenantId = async (): Promise<number> => ++asked
  const { storage, calls } = spyStorage()
  const keyLookup = ({ tenantId: id }: { tenantId: string }) => ({ id: `key of ${id}`, scopes: allScopes })
  const app = await buildApp(t, { storage, tenantId, keyLookup })
  const requests = [
    () => app.inject({ url: '/api/v1/public/acme/candidates', headers: bearer('key') }),
    () => app.inject({ url: '/api/v1/public/acme/candidates/sync', headers: bearer('key') }),
    () => app.inject({ method: 'POST', url: '/api/v1/public/acme/webhooks', headers: bearer('key'), payload: webhookInput }),
    () => app.inject({ url: '/api/v1/public/acme/webhooks/1/deliveries', headers: bearer('key') }),
    () => app.inject({ method: 'POST', url: '/api/v1/public/acme/webhooks/1/replay', headers: bearer('key') }),
    () => app.recruiting.emit(event),
    () => app.recruiting.webhooks.create('acme', webhookInput)
  ]
  for (const request of requests) {
    const before = asked
    calls.length = 0
    await request()
    t.equal(asked, before + 1)
    const tenants = calls.filter(({ method }) => !/tokenSecret|stats/.test(method)).map(({ args }) => args[0])
    t.ok(tenants.length > 0)
    t.same(tenants.filter((tenant) => tenant !== String(asked)), [])
  }
})

t.test('null and undefined mean an unknown tenant', async (t) => {
  for (const value of [null, undefined]) {
    const app = await buildApp(t, { tenantId: returning(value) })
    checkError(t, await app.inject({ url: '/api/v1/public/acme/jobs', headers: bearer('key') }), 401)
    const error = await app.recruiting.emit(event).catch((thrown: unknown) => thrown)
    t.match(isRecruitingApiError(error) && error, {
      code: 'unknown_tenant', field: 'tenantSlug', message: 'tenantSlug: the option tenantId returned null for "acme"'
    })
  }
})

t.test('tenant ids can be integers or any text', async (t) => {
  for (const id of [0, -7, 42, '42', '8f14e45f-ceea-467f-ab4c-1f0b7d3a2c11', 'Ünïcode id', '😀'.repeat(200), '__proto__', 'a/b']) {
    const keyLookup = memoryKeyLookup([{ key: 'key', tenantSlug: 'acme', tenantId: String(id), scopes: allScopes }])
    const storage = memoryStorage()
    storage.candidates.save(String(id), { id: 1, full_name: 'Ada Lovelace' })
    const app = await buildApp(t, { storage, keyLookup, tenantId: () => id })
    const { body } = await app.inject({ url: '/api/v1/public/acme/candidates', headers: bearer('key') })
    t.match(JSON.parse(body), { meta: { total: 1 } }, String(id))
  }
})

interface Host {
  recruiting: ReturnType<typeof createRecruiting>
  companies: Map<string, number>
}

function createHost (hasIds: boolean): Host {
  const companies = new Map([['acme', 41], ['globex', 42]])
  const tenantId = hasIds ? { tenantId: (slug: string) => companies.get(slug) ?? null } : {}
  const options = { storage: memoryStorage(), delivery: false, logger: silentLogger, ...tenantId } as const
  return { recruiting: createRecruiting(options), companies }
}

async function errorOf (call: Promise<unknown>): Promise<unknown> {
  return call.then(() => 'no error', (error: unknown) => isRecruitingApiError(error) ? `${error.code} ${error.message}` : error)
}

t.test('renameTenant works before and after the host has renamed its row', async (t) => {
  for (const isBefore of [true, false]) {
    const { recruiting, companies } = createHost(true)
    await recruiting.webhooks.create('acme', webhookInput)
    const renameRow = (): void => { companies.delete('acme'); companies.set('acme-corp', 41) }
    if (!isBefore) renameRow()
    t.same(await recruiting.renameTenant('acme', 'acme-corp'), { webhooks: 1 })
    if (isBefore) renameRow()
    t.equal((await recruiting.webhooks.list('acme-corp')).data.length, 1)
    await recruiting.close()
  }
})

t.test("a tenant cannot be renamed to another tenant's slug, and both keep their webhooks", async (t) => {
  const { recruiting } = createHost(true)
  await recruiting.webhooks.create('acme', webhookInput)
  t.equal(await errorOf(recruiting.renameTenant('acme', 'globex')), 'invalid_input to: expected a name that no other tenant has')
  t.equal(await errorOf(recruiting.renameTenant('initech', 'hooli')), 'unknown_tenant tenantSlug: the option tenantId returned null for "initech"')
  t.equal((await recruiting.webhooks.list('acme')).data.length, 1)
  t.same(await recruiting.webhooks.list('globex'), { data: [], meta: { page: 1, per_page: 25, total: 0, total_pages: 0 } })
  await recruiting.close()
})

t.test('a tenant whose row is gone can be removed by id, as a number or text', async (t) => {
  for (const tenantId of [41, '41']) {
    const { recruiting, companies } = createHost(true)
    await recruiting.webhooks.create('acme', webhookInput)
    companies.delete('acme')
    t.equal(await errorOf(recruiting.removeTenant('acme')), 'unknown_tenant tenantSlug: the option tenantId returned null for "acme"')
    t.same(await recruiting.removeTenant({ tenantId }), { left: 0 })
    companies.set('acme', 41)
    t.equal((await recruiting.webhooks.list('acme')).data.length, 0)
    await recruiting.close()
  }
})

const ids = new Map([['acme', 'acme'], ['globex', 'globex']])
const tenantId = (slug: string): string | null => ids.get(slug) ?? null

t.test('an unknown tenant gets the same response as an unknown key', async (t) => {
  const app = await buildApp(t, { tenantId })
  for (const path of ['/jobs', '/webhooks/1', '/nothing']) {
    for (const key of [keys.full, 'unknown']) {
      const unknown = comparable(await app.inject({ url: `/api/v1/public/acme${path}`, headers: bearer('unknown') }))
      t.equal(comparable(await app.inject({ url: `/api/v1/public/initech${path}`, headers: bearer(key) })), unknown, `${path} with ${key}`)
    }
  }
})

t.test('an unknown tenant causes the same calls as a wrong key, and a forged session none', async (t) => {
  const asked: string[] = []
  const lookup = memoryKeyLookup(apiKeys)
  let fault: Error | null = null
  const app = await buildApp(t, {
    portal,
    openapi: false,
    rateLimit: { failedKeys: { max: 3 } },
    tenantId (slug) {
      asked.push('tenantId')
      return tenantId(slug)
    },
    async keyLookup (credentials) {
      asked.push('keyLookup')
      t.equal(credentials.tenantId, tenantId(credentials.tenantSlug) ?? `\u0001${credentials.tenantSlug}`)
      if (fault !== null && tenantId(credentials.tenantSlug) === null) throw fault
      return lookup(credentials)
    }
  })
  const own = await createToken(app)
  const cases: Array<[slug: string, key: string, statuses: number[], calls: string[]]> = [
    ['acme', 'guess', [401, 401, 401, 429], Array(3).fill(['tenantId', 'keyLookup']).flat()],
    ['initech', keys.full, [401, 401, 401, 429], Array(3).fill(['tenantId', 'keyLookup']).flat()],
    ['acme', 'rps.forged', [401, 401, 401, 429], []],
    ['acme', sealToken({ until: -1 }), [401, 401, 401, 429], []],
    // Only the first request with a session does not count.
    ['globex', own, [401, 401, 401, 429], Array(4).fill('tenantId')],
    ['initech', await createToken(app), [401, 401, 401, 429], Array(4).fill('tenantId')],
    ['acme', own, [200, 200, 200, 200], Array(4).fill('tenantId')]
  ]
  const ask = async (slug: string, key: string, remoteAddress: string): Promise<number> => {
    const url = `/api/v1/public/${slug}/webhooks`
    return (await app.inject({ url, headers: bearer(key), remoteAddress })).statusCode
  }
  for (const [index, [slug, key, statuses, calls]] of cases.entries()) {
    asked.length = 0
    const given: number[] = []
    while (given.length < statuses.length) given.push(await ask(slug, key, `192.0.2.${index}`))
    t.same([given, asked], [statuses, calls], `${slug} ${index}`)
  }
  for (const [thrown, status] of [[new Error('not an id'), 401], [new HttpError('unavailable'), 503]] as const) {
    fault = thrown
    t.equal(await ask('initech', 'guess', '198.51.100.1'), status, thrown.message)
  }
})

t.test("a valid key with another tenant's slug counts as a failed key and is limited like one", async (t) => {
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
  t.same(asked, ['acme', 'initech', 'acme'])
})

const acme = { tenantId: 'acme', restsUntil: '2026-01-02T00:00:00.000Z', suspendedSince: null, renamedAt: null }

function createNames (start: string) {
  const clock = createManualClock(start)
  const state = { reads: 0, isDown: false }
  const names = createTenantStates({
    async listStates () {
      state.reads++
      if (state.isDown) throw new Error('no database')
      return [acme]
    }
  }, clock)
  return { clock, state, names }
}

t.test('resting slugs are read at most every two seconds, and a request waits for a read only after five', async (t) => {
  const { clock, state, names } = createNames('2026-01-01T00:00:00.000Z')
  for (const [passMs, reads] of [[0, 1], [0, 1], [2000, 1], [1, 2], [1000, 2], [5001, 3], [60_001, 4]] as const) {
    await clock.skip(passMs)
    t.equal(await names.find('acme'), acme)
    t.equal(await names.find('globex'), undefined)
    t.equal(state.reads, reads)
  }
})

t.test('a read that started more than a minute ago is repeated', async (t) => {
  const clock = createManualClock()
  const waiting: Array<(states: TenantState[]) => void> = []
  const names = createTenantStates({ listStates: () => new Promise((resolve) => { waiting.push(resolve) }) }, clock)
  t.equal(names.findKnown('acme'), undefined, 'starts a read')
  await clock.skip(60_001)
  const found = names.find('acme')
  waiting.shift()?.([])
  await clock.advance(0)
  waiting.shift()?.([acme])
  t.equal(await found, acme)
})

t.test('a storage that fails for less than a minute fails no request', async (t) => {
  const { clock, state, names } = createNames('2026-01-01T00:00:00.000Z')
  await names.find('acme')
  state.isDown = true
  await clock.skip(50_000)
  t.equal(await names.find('acme'), acme)
  await clock.skip(10_001)
  await t.rejects(names.find('acme'), { message: 'no database' })
  state.isDown = false
  t.equal(await names.find('acme'), acme)
})

t.test('resting slugs are read again after a minute, even if the clock was set back', async (t) => {
  const { clock, state, names } = createNames('2026-01-01T12:00:00.000Z')
  await names.find('acme')
  clock.setBack(3_600_000)
  await clock.skip(60_001)
  await names.find('acme')
  t.equal(state.reads, 2)
})

import t from 'tap'
import { type TenantIdLookup, createRecruiting, isRecruitingApiError } from '../../src/index.js'
import { memoryKeyLookup, memoryStorage } from '../../src/memory/index.js'
import { checkError } from '../fixtures/api/answers.js'
import { allScopes, bearer, buildApp } from '../fixtures/api/app.js'
import { captureLogs } from '../fixtures/api/logs.js'
import { runUntil, webhookInput } from '../fixtures/api/webhook-api.js'
import { collect } from '../fixtures/collect.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'
import { portal } from '../fixtures/portal/sessions.js'
import { silentLogger } from '../fixtures/delivery/silent-logger.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'

const event = { tenantSlug: 'acme', type: 'application.created', data: {} } as const
const rule = 'tenantId: expected a function that returns an integer, or text of 1 to 200 characters without control characters, or null, got '

/** Plain JavaScript can return anything. */
function returning (value: unknown): TenantIdLookup {
  return () => value as string
}

const nothing: unknown = undefined
const hostile = new Proxy({}, { has () { throw new Error('no access') } })

const bad: Array<[title: string, tenantId: TenantIdLookup, message: string]> = [
  ['throws', () => { throw new Error('no database') }, 'no database'],
  ['throws what is no error', () => { throw nothing }, 'undefined'],
  ['rejects', async () => { throw new Error('no database') }, 'no database'],
  ['gives an object', returning({ id: 42 }), `${rule}an object`],
  ['gives an array', returning([42]), `${rule}an array`],
  ['gives an object that cannot be read', returning(hostile), 'no access'],
  ['promises an object', async () => returning({ id: 42 })('acme'), `${rule}an object`],
  ['gives NaN', returning(Number.NaN), `${rule}NaN`],
  ['gives Infinity', returning(Infinity), `${rule}Infinity`],
  ['gives a fraction', returning(1.5), `${rule}1.5`],
  ['gives an integer that is not exact', returning(2 ** 53), `${rule}9007199254740992`],
  ['gives a bigint', returning(42n), `${rule}42`],
  ['gives a boolean', returning(true), `${rule}true`],
  ['gives an empty text', returning(''), `${rule}""`],
  ['gives text of 201 characters', returning('x'.repeat(201)), `${rule}"${'x'.repeat(201)}"`],
  ['gives text with a line feed', returning('4\n2'), `${rule}"4\\n2"`],
  ['gives half a surrogate pair', returning('\ud800'), `${rule}"\\ud800"`]
]

t.test('a request whose tenantId fails gets 500, the log says why, and neither the key lookup nor the storage is asked', async (t) => {
  for (const [title, tenantId, message] of bad) {
    const logs = captureLogs()
    const { storage, calls } = spyStorage()
    const asked: unknown[] = []
    const app = await buildApp(t, { storage, tenantId, portal, keyLookup: (credentials) => { asked.push(credentials); return null }, server: { logger: logs.logger } })
    calls.length = 0
    checkError(t, await app.inject({ url: '/api/v1/public/acme/jobs', headers: bearer('key') }), 500, `a lookup that ${title}`)
    checkError(t, await app.inject({ method: 'POST', url: '/api/v1/public/acme/webhooks', headers: bearer('key'), payload: webhookInput }), 500, title)
    checkError(t, await app.inject({ url: '/api/v1/public/acme/webhooks', headers: bearer('rps.session') }), 500, `a session, and a lookup that ${title}`)
    t.same([calls, asked], [[], []], title)
    t.ok(logs.lines.some(({ err }) => err?.message.includes(message)), `the log of a lookup that ${title}: ${logs.lines.map(({ err }) => err?.message)}`)
  }
})

t.test('a call by code whose tenantId fails rejects, and stores nothing', async (t) => {
  for (const [title, tenantId] of bad) {
    const { storage, calls } = spyStorage()
    const recruiting = createRecruiting({ storage, tenantId, delivery: false, logger: silentLogger })
    t.teardown(() => recruiting.close())
    const { webhooks } = recruiting
    const work = [
      recruiting.emit(event), recruiting.erase({ tenantSlug: 'acme', subject: 'candidate:1' }), recruiting.changed({ tenantSlug: 'acme', kind: 'job', id: 1 }),
      collect(recruiting.findSubject('acme', 'candidate:1')), recruiting.renameTenant('acme', 'acme-new'), recruiting.removeTenant('acme'), webhooks.create('acme', webhookInput), webhooks.list('acme')
    ]
    for (const { status } of await Promise.allSettled(work)) t.equal(status, 'rejected', title)
    t.same(calls, [], title)
  }
})

t.test('a tenantId that does not answer within 5 seconds fails', async (t) => {
  const clock = createManualClock()
  const storage = memoryStorage({ clock })
  const app = await buildApp(t, { storage, tenantId: () => new Promise(() => {}), delivery: { worker: false, clock } })
  const answering = app.inject({ url: '/api/v1/public/acme/jobs', headers: bearer('key') })
  let isOver = false
  const over = answering.then((answer) => { isOver = true; return answer })
  const emitted = app.recruiting.emit(event).catch((error: unknown) => error)
  await clock.advance(4999)
  t.notOk(isOver)
  checkError(t, await runUntil(clock, over), 500)
  const error = await emitted
  t.match(isRecruitingApiError(error) && error, { code: 'storage_timeout', message: 'tenantId did not answer within 5000 ms' })
  t.equal(clock.timerCount, 0)
})

t.test('each request and each call asks tenantId once, and uses one id even if every answer is another', async (t) => {
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
    const tenants = calls.filter(({ method }) => method !== 'changes.tokenSecret').map(({ args }) => args[0])
    t.ok(tenants.length > 0)
    t.same(tenants.filter((tenant) => tenant !== String(asked)), [])
  }
})

t.test('null and undefined mean that there is no such tenant', async (t) => {
  for (const value of [null, undefined]) {
    const app = await buildApp(t, { tenantId: returning(value) })
    checkError(t, await app.inject({ url: '/api/v1/public/acme/jobs', headers: bearer('key') }), 401)
    const error = await app.recruiting.emit(event).catch((thrown: unknown) => thrown)
    t.match(isRecruitingApiError(error) && error, {
      code: 'unknown_tenant', field: 'tenantSlug', message: 'tenantSlug: the option tenantId returned null for "acme"'
    })
  }
})

t.test('ids may be integers, and any text that is no slug', async (t) => {
  for (const id of [0, -7, 42, '42', '8f14e45f-ceea-467f-ab4c-1f0b7d3a2c11', 'Ünïcode id', '😀'.repeat(200), '__proto__', 'a/b']) {
    const keyLookup = memoryKeyLookup([{ key: 'key', tenantSlug: 'acme', tenantId: String(id), scopes: allScopes }])
    const storage = memoryStorage()
    storage.candidates.save(String(id), { id: 1, full_name: 'Ada Lovelace' })
    const app = await buildApp(t, { storage, keyLookup, tenantId: () => id })
    const { body } = await app.inject({ url: '/api/v1/public/acme/candidates', headers: bearer('key') })
    t.match(JSON.parse(body), { meta: { total: 1 } }, String(id))
  }
})

// The tests need no database and no receiver: a recorder records the events, and applications are in memory.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditEntry } from 'fastify-recruiting-api'
import { memoryKeyLookup } from 'fastify-recruiting-api/memory'
import { type EventRecorder, recordEvents } from 'fastify-recruiting-api/testing'
import type { Application, Applications, RecordEvent } from '../src/applications.js'
import { buildAts } from '../src/ats.js'
import type { Companies } from '../src/companies.js'
import type { User } from '../src/settings-page.js'

const developer: User = { id: 'dana@acme.example', companyId: '1', isAdmin: true }
const ids = new Map([['acme', '1'], ['globex', '2']])

const companies: Companies = {
  findId: async (slug) => ids.get(slug) ?? null,
  findSlug: async (id) => [...ids].find(([, known]) => known === id)?.[0] ?? null
}

/** Stands in for PostgreSQL, and reports each commit and rollback to the recorder. */
function memoryApplications ({ commit, rollback }: Pick<EventRecorder, 'commit' | 'rollback'>): Applications {
  const rows: Application[] = [1, 2, 3].map((id) => ({ id, candidate_id: 40 + id, job_id: 7, stage: 'offer' }))
  const find = (companyId: string, stage?: string): Application[] =>
    rows.filter((row) => companyId === '1' && (stage === undefined || row.stage === stage))

  async function commitWith (record: RecordEvent, changed: Application): Promise<void> {
    const transaction = {}
    try {
      await record(changed, transaction)
    } catch (error) {
      rollback(transaction)
      throw error
    }
    commit(transaction)
  }

  return {
    list: async (companyId, stage, offset, limit) => find(companyId, stage).slice(offset, offset + limit),
    count: async (companyId, stage) => find(companyId, stage).length,
    listAfter: async (companyId, after, limit) => find(companyId).filter(({ id }) => id > after).slice(0, limit),
    findMany: async (companyId, wanted) => find(companyId).filter(({ id }) => wanted.includes(id)),
    async create (companyId, application, record) {
      if (companyId !== '1' || application.job_id !== 7) return null
      const row: Application = { id: rows.length + 1, ...application, stage: 'applied' }
      await commitWith(record, row)
      rows.push(row)
      return row
    },
    async move (companyId, id, stage, record) {
      const row = find(companyId).find((one) => one.id === id && one.stage !== stage)
      if (row === undefined) return null
      await commitWith(record, { ...row, stage })
      return Object.assign(row, { stage })
    }
  }
}

async function start ({ isSignedIn = true, hasDeveloper = false } = {}) {
  const recorder = recordEvents({ requireSubject: true })
  const entries: AuditEntry[] = []
  const scopes = ['candidates:read', 'applications:read', 'applications:write', 'webhooks:read', 'webhooks:write']
  const app = await buildAts({
    storage: recorder.storage,
    keyLookup: memoryKeyLookup(
      [...ids].map(([tenantSlug, tenantId]) => ({ key: `${tenantSlug}-key`, tenantSlug, tenantId, scopes }))
    ),
    companies,
    applications: memoryApplications(recorder),
    findUser: () => (isSignedIn ? developer : null),
    hasDeveloper,
    onAudit: (entry) => {
      entries.push(entry)
    },
    secretKeys: [],
    portalKeys: [Buffer.alloc(32, 1)],
    delivery: { worker: false }
  })
  const call = (method: 'GET' | 'POST', path: string, payload?: object, tenant = 'acme', key = `${tenant}-key`) =>
    app.inject({
      method,
      url: `/api/v1/public/${tenant}${path}`,
      headers: { authorization: `Bearer ${key}` },
      ...(payload === undefined ? {} : { payload })
    })
  return { app, recorder, entries, call }
}

test('hiring emits an event about the candidate and the job, and the audit log names the application', async () => {
  const { recorder, entries, call } = await start()
  assert.equal((await call('POST', '/applications/1/hire')).statusCode, 200)
  assert.deepEqual(recorder.of('application.hired').map(({ data, subjects }) => ({ data, subjects })), [
    { data: { id: 1, candidate_id: 41, job_id: 7, stage: 'hired' }, subjects: ['candidate:41', 'job:7'] }
  ])
  assert.deepEqual(
    entries.map(({ operationId, resource }) => [operationId, resource]),
    [['hire', { kind: 'application', id: 1 }]]
  )
})

test('nobody is hired twice, and an application that does not exist emits nothing', async () => {
  const { recorder, call } = await start()
  await call('POST', '/applications/1/hire')
  recorder.clear()
  for (const id of [1, 9]) assert.equal((await call('POST', `/applications/${id}/hire`)).statusCode, 404)
  assert.deepEqual(recorder.events, [])
})

test('the list has pages and filters like the lists of the API', async () => {
  const { call } = await start()
  const { data, meta } = (await call('GET', '/applications?filter[stage]=offer&per_page=2')).json()
  assert.deepEqual([data.length, meta.total], [2, 3])
  assert.equal((await call('GET', '/applications?filter[stag]=offer')).statusCode, 400)
})

test('an application that is sent twice with one Idempotency-Key is created once', async () => {
  const { app, recorder } = await start()
  const send = (payload: object) => app.inject({
    method: 'POST',
    url: '/api/v1/public/acme/applications',
    headers: { authorization: 'Bearer acme-key', 'idempotency-key': 'crm-17' },
    payload
  })
  const responses = [await send({ candidate_id: 41, job_id: 7 }), await send({ candidate_id: 41, job_id: 7 })]
  for (const response of responses) {
    assert.equal(response.statusCode, 201)
    assert.deepEqual(response.json(), { data: { id: 4, candidate_id: 41, job_id: 7, stage: 'applied' } })
  }
  assert.deepEqual(recorder.of('application.created').map(({ subjects }) => subjects), [['candidate:41', 'job:7']])
  assert.equal((await send({ candidate_id: 41, job_id: 8 })).statusCode, 400, 'another application with this key')
})

test('an application for an unknown job is rejected', async () => {
  const { call, recorder } = await start()
  assert.equal((await call('POST', '/applications', { candidate_id: 41, job_id: 8 })).statusCode, 400)
  assert.deepEqual(recorder.events, [])
})

test('a sync returns all applications, then those that changed; each can be read alone', async () => {
  const { app, call } = await start()
  const { data, meta } = (await call('GET', '/applications/sync')).json()
  assert.deepEqual([data.length, data[0].application, meta.has_more], [3, { id: 1, candidate_id: 41, job_id: 7, stage: 'offer' }, false])
  await call('POST', '/applications/1/hire')
  // In PostgreSQL, the triggers of watch record it.
  await app.recruiting.changed({ tenantId: '1', kind: 'application', id: 1 })
  const hired = { id: 1, candidate_id: 41, job_id: 7, stage: 'hired' }
  const next = (await call('GET', `/applications/sync?token=${meta.next_token}`)).json()
  assert.deepEqual(next.data, [{ id: 1, deleted: false, application: hired }])
  assert.deepEqual((await call('GET', '/applications/1')).json(), { data: hired })
  assert.equal((await call('GET', '/applications/9')).statusCode, 404)
})

test('a key is unknown to other companies', async () => {
  const { call } = await start()
  assert.equal((await call('GET', '/applications', undefined, 'acme', 'globex-key')).statusCode, 401)
})

test('the plan of a company limits its webhooks', async () => {
  const { call } = await start()
  const webhook = { name: 'CRM', target_url: 'https://hooks.example.com/', event_types: ['application.hired'] }
  assert.equal((await call('POST', '/webhooks', webhook, 'globex')).statusCode, 201)
  assert.equal((await call('POST', '/webhooks', webhook, 'globex')).statusCode, 400)
})

test('the portal opens for a user who is signed in', async () => {
  for (const [isSignedIn, expected] of [[true, 200], [false, 401]] as const) {
    const { app } = await start({ isSignedIn })
    assert.equal((await app.inject('/settings/webhooks')).statusCode, expected)
    assert.equal((await app.inject({ method: 'POST', url: '/settings/webhooks/session' })).statusCode, expected)
  }
})

test('only pages of the same site get a session, also behind a proxy that changes Host', async () => {
  const { app } = await start()
  const origin = 'https://ats.example'
  for (const [headers, expected] of [
    [{ origin, host: 'ats.example' }, 200],
    [{ origin, host: 'elsewhere.example' }, 403],
    [{ origin, host: 'backend', 'sec-fetch-site': 'same-origin' }, 200],
    [{ origin, host: 'ats.example', 'sec-fetch-site': 'cross-site' }, 403],
    [{ host: 'ats.example', 'sec-fetch-site': 'same-site' }, 403]
  ] as const) {
    const response = await app.inject({ method: 'POST', url: '/settings/webhooks/session', headers })
    assert.equal(response.statusCode, expected, JSON.stringify(headers))
  }
})

test('while the developer is signed in, no other site can point its name to the server', async () => {
  const { app } = await start({ hasDeveloper: true })
  const send = async (host: string, url: string, method: 'GET' | 'POST' = 'GET') =>
    (await app.inject({ method, url, headers: { host } })).statusCode
  for (const url of ['/settings/webhooks', '/api/v1/public/portal/', '/api/v1/public/acme/candidates', '/nowhere']) {
    assert.equal(await send('evil.example:3000', url), 421, url)
  }
  const session = '/settings/webhooks/session'
  assert.equal(await send('127.0.0.1.evil.example', session, 'POST'), 421)
  for (const host of ['localhost:3000', '127.0.0.1:3000', '[::1]:3000']) {
    assert.equal(await send(host, session, 'POST'), 200, host)
  }
})

import t from 'tap'
import { HttpError, RecruitingApiError } from '../../src/index.js'
import { memoryStorage } from '../../src/memory/index.js'
import { bearer, buildApp, keys, tenants } from '../fixtures/api/app.js'
import { checkError } from '../fixtures/api/answers.js'

const base = '/api/v1/public/acme'
const headers = bearer(keys.full)

/** The statuses of what a port throws. */
const statuses = [
  ['rate_limited', 429], ['unavailable', 503],
  ['bad_request', 500], ['unauthorized', 500], ['forbidden', 500], ['not_found', 500], ['conflict', 500], ['sync_token_expired', 500]
] as const

t.test('a key lookup and a storage can reject with 429 and 503; their other errors get 500', async (t) => {
  let thrown: unknown
  const fail = async (): Promise<never> => { throw thrown }
  const storage = memoryStorage({ tenants })
  Object.assign(storage.candidates, { list: fail, find: fail })
  Object.assign(storage.jobs, { count: fail, listAfter: fail })
  Object.assign(storage.webhooks, { find: fail })
  Object.assign(storage.feed ?? {}, { list: fail })
  for (const failing of [{ keyLookup: fail }, { storage }]) {
    const app = await buildApp(t, { openapi: false, ...failing })
    for (const path of ['candidates', 'candidates/1', 'jobs', 'webhooks/1', 'events']) {
      for (const [code, status] of statuses) {
        thrown = new HttpError(code)
        const answer = await app.inject({ url: `${base}/${path}`, headers })
        checkError(t, answer, status, `${path}: ${code}`)
        t.equal(answer.headers['retry-after'], status === 503 ? '5' : undefined)
      }
    }
  }
})

t.test('errors have the status that Fastify sends from routes outside the API', async (t) => {
  let thrown: unknown
  const app = await buildApp(t, { before (app) { app.get('/own', async () => { throw thrown }) } })
  for (const [error, status] of [
    [new HttpError('not_found'), 404], [new HttpError('unavailable'), 503],
    [new RecruitingApiError('invalid_input', 'name'), 400], [new RecruitingApiError('not_found', 'webhook'), 404],
    [new RecruitingApiError('invalid_option', 'pollMs'), 500], [new RecruitingApiError('storage_timeout', 'late'), 503]
  ] as const) {
    thrown = error
    t.equal((await app.inject('/own')).statusCode, status, error.code)
    t.equal(error.statusCode, status)
  }
})

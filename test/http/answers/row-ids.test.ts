import t from 'tap'
import type { IdKinds } from '../../../src/index.js'
import { jobsFrom, memoryStorage } from '../../../src/memory/index.js'
import { checkError } from '../../fixtures/api/answers.js'
import { bearer, buildApp, keys } from '../../fixtures/api/app.js'
import { captureLogs } from '../../fixtures/api/logs.js'

const base = '/api/v1/public/acme'
const headers = bearer(keys.full)

t.test('an id of another type than declared gets 500, and the log names port, field and type, not the value', async (t) => {
  const integer = "expected an integer up to 2^53-1: ids.candidate is 'integer'"
  const text = "expected a string of 1 to 64 visible ASCII characters without /: ids.candidate is 'string'"
  const problems: Array<[Partial<IdKinds>, string, unknown, string]> = [
    [{}, 'id', 'canary', `whose id is a string, ${integer}`],
    [{}, 'id', '7', `whose id is a string, ${integer}`],
    [{}, 'id', 1.5, `whose id is a number, ${integer}`],
    [{}, 'id', 7n, `whose id is a bigint, ${integer}`],
    [{}, 'id', null, `whose id is null, ${integer}`],
    [{}, 'id', undefined, `whose id is undefined, ${integer}`],
    [{}, 'id', { canary: 1 }, `whose id is an object, ${integer}`],
    [{ candidate: 'string' }, 'id', 7, `whose id is a number, ${text}`],
    [{ candidate: 'string' }, 'id', 'can ary', `whose id is a string, ${text}`],
    [{ candidate: 'string' }, 'id', 'canary/', `whose id is a string, ${text}`],
    [{ candidate: 'string' }, 'id', 'x'.repeat(65), `whose id is a string, ${text}`],
    [{}, 'source_id', 'canary', "whose source_id is a string, expected an integer up to 2^53-1: ids.source is 'integer'"],
    [{}, 'source_id', undefined, "whose source_id is undefined, expected an integer up to 2^53-1: ids.source is 'integer'"],
    [{ source: 'string' }, 'source_id', 3, "whose source_id is a number, expected a string of 1 to 64 visible ASCII characters without /: ids.source is 'string'"]
  ]
  for (const [kinds, field, value, problem] of problems) {
    const logs = captureLogs()
    const storage = memoryStorage({ ids: kinds })
    const row = { id: kinds.candidate === 'string' ? 'a' : 1, full_name: 'canary', headline: null, source_id: null, [field]: value }
    storage.candidates.list = async () => [row] as never
    storage.candidates.find = async () => row as never
    const app = await buildApp(t, { ids: kinds, storage, server: { logger: logs.logger } })
    for (const [method, path] of [['list', 'candidates'], ['find', 'candidates/1']] as const) {
      logs.lines.length = 0
      const answer = await app.inject({ url: `${base}/${path}`, headers })
      checkError(t, answer, 500, problem)
      t.same(logs.lines.filter(({ level }) => level === 50).map(({ err }) => err?.message), [`candidates.${method} returned a row ${problem}`])
      t.notMatch(logs.text(), 'canary')
    }
  }
})

t.test('a job of another type of id gets 500 too', async (t) => {
  const logs = captureLogs()
  const dates = { created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' }
  const jobs = jobsFrom(() => [{ id: 'j', name: 'Nurse', status: 'draft', ...dates }], { ids: { job: 'string' } })
  const storage = { ...memoryStorage(), jobs }
  const app = await buildApp(t, { storage, server: { logger: logs.logger } })
  checkError(t, await app.inject({ url: `${base}/jobs`, headers }), 500)
  const failures = logs.lines.filter(({ level }) => level === 50)
  t.same(failures.map(({ err }) => err?.message), ["jobs.list returned a row whose id is a string, expected an integer up to 2^53-1: ids.job is 'integer'"])
})

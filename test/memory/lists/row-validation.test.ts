import t from 'tap'
import { isRecruitingApiError } from '../../../src/errors.js'
import { memoryStorage } from '../../../src/memory/index.js'

const ann = { id: 1, full_name: 'Ann' }
const baker = { id: 1, name: 'Baker', status: 'open' }

function refusal (act: () => unknown): { code: string, field: string, message: string } | null {
  try {
    act()
    return null
  } catch (error) {
    if (!isRecruitingApiError(error)) throw error
    return { code: error.code, field: error.field, message: error.message }
  }
}

// As a host without types may call it, with rows that came from a file.
function open (json: unknown): unknown {
  return Reflect.apply(memoryStorage, undefined, [json])
}

const tenant = 'expected a tenant of 1 to 200 characters without control characters'
const wellFormed = 'expected a string without NUL and lone surrogates'

const refused: Array<[given: unknown, field: string, problem: string]> = [
  [{ tenants: [] }, 'tenants', 'expected an object, got an array'],
  [{ tenants: 'acme' }, 'tenants', 'expected an object, got "acme"'],
  [{ tenants: () => ({}) }, 'tenants', 'expected an object, got a function'],
  [{ tenants: { '': {} } }, 'tenants', `${tenant}, got ""`],
  [{ tenants: { 'a\n': {} } }, 'tenants', `${tenant}, got "a\\n"`],
  [{ tenants: { acme: null } }, 'tenants.acme', 'expected an object, got null'],
  [{ tenants: { acme: { candidates: {} } } }, 'tenants.acme.candidates', 'expected an array, got an object'],
  [{ tenants: { acme: { jobs: 5 } } }, 'tenants.acme.jobs', 'expected an array, got 5'],
  [{ tenants: { acme: { jobs: [baker, undefined] } } }, 'tenants.acme.jobs[1]', 'expected an object, got undefined'],
  [{ tenants: { acme: { jobs: [baker, baker] } } }, 'tenants.acme.jobs[1].id', 'expected an id that no other row has, got 1']
]

const refusedCandidates: Array<[changes: Record<string, unknown>, field: string, problem: string]> = [
  [{ id: 'x' }, '.id', 'expected a positive integer, got "x"'],
  [{ id: 0 }, '.id', 'expected a positive integer, got 0'],
  [{ id: 1.5 }, '.id', 'expected a positive integer, got 1.5'],
  [{ id: 2 ** 53 }, '.id', 'expected a positive integer, got 9007199254740992'],
  [{ full_name: null }, '.full_name', 'expected a string, got null'],
  [{ full_name: 'a\0b' }, '.full_name', `${wellFormed}, got "a\\u0000b"`],
  [{ full_name: 'a\ud800b' }, '.full_name', `${wellFormed}, got "a\\ud800b"`],
  [{ headline: `\0${'x'.repeat(90)}` }, '.headline', `${wellFormed}, got "\\u0000${'x'.repeat(59)}…"`],
  [{ headline: 5 }, '.headline', 'expected a string, got 5'],
  [{ source_id: '5' }, '.source_id', 'expected an integer or null, got "5"'],
  [{ recruiter_id: Number.NaN }, '.recruiter_id', 'expected an integer or null, got NaN'],
  [{ created_at: new Date(0) }, '.created_at', 'expected an RFC 3339 date-time, got an object'],
  [{ created_at: () => 0 }, '', 'expected fields that hold plain data'],
  [{ updated_at: '2026-02-30T00:00:00Z' }, '.updated_at', 'expected an RFC 3339 date-time, got "2026-02-30T00:00:00Z"'],
  [{ further: Symbol('further') }, '', 'expected fields that hold plain data']
]

t.test('malformed options are refused, and the error names the path', async (t) => {
  for (const [given, field, problem] of refused) {
    t.strictSame(refusal(() => open(given)), { code: 'invalid_option', field, message: `${field}: ${problem}` })
  }
})

t.test('a malformed candidate is refused, whether it is there from the beginning or saved later', async (t) => {
  const { candidates } = memoryStorage()
  for (const [changes, field, problem] of refusedCandidates) {
    const row = { ...ann, ...changes }
    const first = `tenants.acme.candidates[1]${field}`
    const given = { tenants: { acme: { candidates: [{ ...ann, id: 2 }, row] } } }
    t.strictSame(refusal(() => open(given)), { code: 'invalid_option', field: first, message: `${first}: ${problem}` })

    const later = `row${field}`
    const save = (): unknown => Reflect.apply(candidates.save, undefined, ['acme', row])
    t.strictSame(refusal(save), { code: 'invalid_option', field: later, message: `${later}: ${problem}` })
  }
  t.equal(await candidates.count('acme', {}), 0)
})

t.test('a malformed job is refused', async (t) => {
  const { jobs } = memoryStorage()
  for (const [field, value] of [['name', 5], ['status', undefined], ['id', -1]] as const) {
    const save = (): unknown => Reflect.apply(jobs.save, undefined, ['acme', { ...baker, [field]: value }])
    t.equal(refusal(save)?.field, `row.${field}`)
  }
})

t.test('only date-times of RFC 3339 from the years 1 to 9999 are dates', async (t) => {
  const { jobs } = memoryStorage()
  const wrong = [
    '', '2026-01-01', '2026-01-01T00:00:00', '2026-01-01 00:00:00Z', '2026-13-01T00:00:00Z', '2026-01-01T24:00:00Z',
    '2025-02-29T00:00:00Z', '2026-01-01T00:00:00+25:00', '0000-12-31T00:00:00Z', '9999-12-31T23:59:59-01:00',
    '+010000-01-01T00:00:00Z', ' 2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z\n'
  ]
  const right = [
    '2024-02-29T00:00:00.123456Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z', '2026-01-01t00:00:00z'
  ]
  const save = (date: string): void => jobs.save('acme', { ...baker, created_at: date })
  for (const date of wrong) t.equal(refusal(() => save(date))?.field, 'row.created_at', JSON.stringify(date))
  for (const date of right) t.equal(refusal(() => save(date)), null, date)
})

t.test('a row is saved only for a valid tenant', async (t) => {
  const { jobs } = memoryStorage()
  for (const id of ['', 'a'.repeat(201), 'a\u0000', 'a\u007f']) {
    t.equal(refusal(() => jobs.save(id, baker))?.field, 'tenant')
  }
  t.equal(refusal(() => jobs.save('a'.repeat(200), baker)), null)
})

t.test('the same id may be in two tenants, and without options there are none', async (t) => {
  t.equal(refusal(() => open({ tenants: { a: { candidates: [ann] }, b: { candidates: [ann] } } })), null)
  t.equal(await memoryStorage().candidates.count('acme', {}), 0)
})

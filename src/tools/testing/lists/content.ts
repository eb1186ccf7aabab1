import { defineCase } from '../support/case.js'
import { same } from '../support/expect.js'
import { pick, resourceCase, resources, rowCases } from './rows.js'

const rare = {
  id: 9_007_199_254_740_991,
  name: 'Zoë "Z" O\'Neil\n\\ \u{1f600}',
  headline: 'Lead — Nurse',
  source_id: 9_007_199_254_740_991,
  recruiter_id: 4_294_967_296,
  status: 'on_hold',
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-02-03T04:05:06.789Z'
}

// Names that a storage might take for acme, or for everybody.
const strangers = ['nobody', 'ACME', 'acme ', 'acm_', '%', '__proto__', "acme' or '1'='1"]

export const contentCases = [
  // About the fields and the tenant of rows.
  rowCases('list', 'a row has the fields of its type, with their types', async (rows) => {
    await rows.save([rare, { id: 1 }])
    for (const fields of [rows.fields, [...rows.fields, ...rows.further]]) {
      same(
        (await rows.list({ fields })).map((row) => pick(row, fields)),
        [{ id: 1 }, rare].map((sample) => pick(rows.toRow(sample), fields)),
        'the rows: numbers as numbers, absence as null, text as saved, dates in RFC 3339, UTC, with milliseconds'
      )
    }
  }),

  rowCases('list', 'a tenant sees only its own rows', async (rows) => {
    await rows.save([{ id: 1, name: 'Ana' }, { id: 2, name: 'Ana' }])
    await rows.save([{ id: 2, name: 'Bo' }, { id: 3, name: 'Ana' }], 'globex')
    for (const [tenantSlug, q, ids] of [
      ['acme', 'ana', [1, 2]],
      ['globex', 'ana', [3]],
      ['acme', 'bo', []],
      ['globex', 'bo', [2]]
    ] as const) {
      same(await rows.ids({ filter: { q } }, tenantSlug), ids, `the rows of ${tenantSlug} found by ${q}`)
      same(await rows.count({ q }, tenantSlug), ids.length, `the number of rows of ${tenantSlug} found by ${q}`)
    }
    same(await rows.ids({}, 'globex'), [2, 3], 'the rows of globex')
    same(await rows.count({}, 'globex'), 2, 'the total of globex')
    for (const slug of [...strangers, 'Acme', ' acme', 'acm', 'a%', 'constructor']) {
      same(await rows.ids({}, slug), [], `the rows of ${JSON.stringify(slug)}, another tenant`)
      same(await rows.count({}, slug), 0, `the total of ${JSON.stringify(slug)}`)
    }
  }),

  rowCases('list', 'changing a returned row does not change the stored one', async (rows) => {
    await rows.save([{ id: 1, name: 'Ana' }])
    const before = structuredClone(await rows.list())
    for (const row of [...await rows.list(), await rows.find(1)]) {
      for (const field of Object.keys(row ?? {})) Reflect.set(row ?? {}, field, 'changed')
    }
    same([...await rows.list(), await rows.find(1)], [...before, ...before], 'the row, listed and found again')
  }),

  resourceCase('candidates', 'list', 'a query is not modified', async (rows, { storage }) => {
    await rows.saveIds([1])
    const query = Object.freeze({
      filter: Object.freeze({ q: 'NAME' }),
      sort: Object.freeze([Object.freeze({ field: 'id', direction: 'asc' } as const)]),
      offset: 0,
      limit: 200,
      fields: Object.freeze([...rows.fields])
    })
    same((await storage.candidates.list('acme', query)).map(({ id }) => id), [1], 'the result of a frozen query')
  }),

  // About the check of a storage when a server starts.
  defineCase('lists', {
    port: 'verify', name: 'verify accepts a usable storage each time an app starts'
  }, async ({ storage, tenantId }) => {
    const ids = { candidate: 'integer', job: 'integer', source: 'integer', recruiter: 'integer' } as const
    const { candidates, jobs } = resources
    const published = {
      candidates: candidates.fields, jobs: jobs.fields, ids, hasTenantIds: tenantId !== undefined
    }
    for (const asked of [published, null, published]) {
      const warnings = await storage.verify?.(asked)
      same(
        warnings?.filter((warning) => typeof warning !== 'string'), warnings && [],
        'the warnings that are not strings'
      )
    }
  }),

  // About single rows.
  rowCases('find', 'a row of another tenant is not found', async (rows) => {
    await rows.save([{ id: 1, name: 'Ana' }, { id: 3, name: 'Bo' }])
    await rows.save([{ id: 2, name: 'Ana' }, { id: 3, name: 'Cy' }], 'globex')
    same(
      [await rows.find(2), await rows.find(1, 'globex')], [null, null],
      'rows 2 of globex and 1 of acme, for the other tenant'
    )
    const [ours, theirs] = [(await rows.list())[1], (await rows.list({}, 'globex'))[1]]
    same(
      [await rows.find(3), await rows.find(3, 'globex')], [ours, theirs],
      'row 3 of acme and of globex, as in their lists'
    )
    for (const slug of strangers) {
      same(await rows.find(1, slug), null, `row 1 of ${JSON.stringify(slug)}, another tenant`)
    }
  }),

  rowCases('find', 'find returns the same fields as list', async (rows) => {
    await rows.save([{ id: 1 }, rare])
    for (const fields of [rows.fields, [...rows.fields, ...rows.further]]) {
      for (const row of await rows.list({ fields })) {
        same(
          pick((await rows.find(row.id, 'acme', fields)) ?? {}, fields), pick(row, fields),
          `the ${fields.length} fields of row ${row.id}`
        )
      }
    }
  })
].flat()

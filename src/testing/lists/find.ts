import { same } from '../support/expect.js'
import { candidate, candidateFields, job, jobFields, listCase, pick, rowCases } from './rows.js'

const highest = 9_007_199_254_740_991
const page = { filter: {}, sort: [{ field: 'id' as const, direction: 'asc' as const }], offset: 0, limit: 200 }

// Names that a storage might take for acme, or for everybody.
const strangers = ['nobody', 'ACME', 'acme ', 'acm_', '%', '__proto__', "acme' or '1'='1"]

/** Cases about single rows. */
export const findCases = [
  rowCases({ port: 'find', name: 'a row is found by its id' }, async (rows) => {
    await rows.save([1, 2, 4_294_967_297, highest].map((id) => ({ id, name: `Name ${id}` })))
    for (const id of [1, 2, 4_294_967_297, highest]) same((await rows.find(id))?.id, id, `the id of row ${id}`)
    for (const id of [3, 4_294_967_298, highest - 1]) same(await rows.find(id), null, `row ${id}, which does not exist`)
  }),

  rowCases({ port: 'find', name: 'a row of another tenant is not found' }, async (rows) => {
    await rows.save([{ id: 1, name: 'Ana' }, { id: 3, name: 'Bo' }])
    await rows.save([{ id: 2, name: 'Ana' }, { id: 3, name: 'Cy' }], 'globex')
    same(
      [await rows.find(2), await rows.find(1, 'globex')],
      [null, null],
      'rows 2 of globex and 1 of acme, for the other tenant'
    )
    const [ours, theirs] = [(await rows.list())[1], (await rows.list({}, 'globex'))[1]]
    same(
      [await rows.find(3), await rows.find(3, 'globex')],
      [ours, theirs],
      'row 3 of acme and of globex, as in their lists'
    )
    for (const slug of strangers) {
      same(await rows.find(1, slug), null, `row 1 of ${JSON.stringify(slug)}, another tenant`)
    }
  }),

  [listCase({
    port: 'candidates.find', name: 'candidates: a row that is found has the fields that it has in the list'
  }, async ({ storage: { candidates }, saveCandidates }) => {
    await saveCandidates('acme', [
      candidate(1),
      candidate(2, { headline: 'Nurse', source_id: highest, recruiter_id: 7 })
    ])
    for (const fields of [candidateFields, [...candidateFields, 'recruiter_id', 'created_at', 'updated_at']]) {
      for (const row of await candidates.list('acme', { ...page, fields })) {
        same(
          pick((await candidates.find('acme', row.id, { fields })) ?? {}, fields),
          pick(row, fields),
          `the ${fields.length} fields of row ${row.id}`
        )
      }
    }
  }),

  listCase({
    port: 'jobs.find', name: 'jobs: a row that is found has the fields that it has in the list'
  }, async ({ storage: { jobs }, saveJobs }) => {
    await saveJobs('acme', [job(1), job(2, { status: 'on_hold', updated_at: '2026-02-03T04:05:06.789Z' })])
    for (const fields of [jobFields, [...jobFields, 'created_at', 'updated_at']]) {
      for (const row of await jobs.list('acme', { ...page, fields })) {
        same(
          pick((await jobs.find('acme', row.id, { fields })) ?? {}, fields),
          pick(row, fields),
          `the ${fields.length} fields of row ${row.id}`
        )
      }
    }
  })],

  rowCases({ port: 'find', name: 'changing a row that was found changes nothing that is stored' }, async (rows) => {
    await rows.save([{ id: 1, name: 'Ana' }])
    const before = structuredClone(await rows.find(1))
    Object.assign(await rows.find(1) ?? {}, { id: 2, full_name: 'changed', name: 'changed' })
    same(await rows.find(1), before, 'the row, asked for again')
  })
].flat()

import type { Id, IdKinds, SortItem } from '../../ports/index.js'
import { defineIdCase, type StorageCase } from '../support/case.js'
import { same } from '../support/expect.js'
import type { AnyStorageHarness, StorageHarness } from '../support/harness.js'
import { findKinds } from '../support/number-ids.js'
import { findForm, firstRows, type IdForm, toSampleId } from '../support/samples.js'
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

// Each list is in its order: by value, or by code point.
const present: Record<IdForm, readonly Id[]> = {
  integer: [1, 9, 10, 12, 100, 4_294_967_297, 9_007_199_254_740_991],
  text: [
    '!',
    '"',
    '#1',
    '%',
    "'",
    '-',
    '01',
    '1',
    '10',
    '1e3',
    '9',
    '9007199254740993',
    'A',
    'Z',
    'Zz',
    '\\',
    '_',
    'a',
    'a-b',
    'a.b',
    'aa',
    'ab',
    'x'.repeat(64),
    'z',
    '~'
  ],
  uuid: [
    '00000000-0000-0000-0000-000000000001',
    '00000000-0000-0000-0000-ffffffffffff',
    '00000001-0000-0000-0000-000000000000',
    '0197f4c2-8a10-7d3e-9b51-6c2f8e1a4d70',
    '7fffffff-ffff-4fff-bfff-ffffffffffff',
    '9197f4c2-8a10-7d3e-9b51-6c2f8e1a4d70',
    'a197f4c2-8a10-7d3e-9b51-6c2f8e1a4d70',
    'ffffffff-ffff-ffff-ffff-ffffffffffff'
  ]
}

const absent: Record<IdForm, readonly Id[]> = {
  integer: [2, 11, 101, 4_294_967_298, 9_007_199_254_740_990],
  text: [
    'AA',
    'aA',
    'zz',
    '1.0',
    '1000',
    '9007199254740992',
    '%%',
    '__',
    'a%',
    'a_b',
    "'or'1'='1",
    'null',
    '$1',
    'x'.repeat(63)
  ],
  uuid: [
    '00000000-0000-0000-0000-000000000002',
    '0197f4c2-8a10-7d3e-9b51-6c2f8e1a4d71',
    '00000000-0000-0000-0000-000000000000'
  ]
}

const strange = [
  'nobody',
  '0',
  '-1',
  '1e4',
  'null',
  'NaN',
  '~~',
  '\\\\',
  "''",
  '%%',
  'y'.repeat(64),
  '0197f4c2-8a10-7d3e-9b51-6c2f8e1a4d7',
  '0197f4c2-8a10-7d3e-9b51-6c2f8e1a4d70a',
  '0197f4c28a107d3e9b516c2f8e1a4d70',
  '{0197f4c2-8a10-7d3e-9b51-6c2f8e1a4d70}'
]

/** Ids that no row has, and that some columns cannot hold. */
const unholdable: Record<IdForm, readonly Id[]> = {
  integer: [2_147_483_648, 9_007_199_254_740_989],
  text: strange,
  uuid: strange
}

/** Candidates or jobs with the ids of the storage itself. */
interface OwnRows {
  form: IdForm
  /** Saves rows that differ only in these ids. */
  save (ids: readonly Id[]): Promise<void>
  /** Returns the ids of all rows. */
  ids (...sort: Array<SortItem<'id' | 'created_at'>>): Promise<Id[]>
  /** Returns the id of the row that is found; `null` if none is. */
  find (id: Id): Promise<Id | null>
}

/** Cases about the ids of rows. */
export const idCases = [
  ownCases({ port: 'find', name: 'an id is compared exactly' }, async (rows) => {
    await rows.save(present[rows.form])
    for (const id of present[rows.form]) same(await rows.find(id), id, `the id of row ${id}`)
    for (const id of absent[rows.form]) same(await rows.find(id), null, `row ${id}, which does not exist`)
  }),

  ownCases({ port: 'find', name: 'an id that no row can have is not found' }, async (rows) => {
    await rows.save(present[rows.form].slice(0, 1))
    for (const id of unholdable[rows.form]) same(await rows.find(id), null, `row ${id}`)
  }),

  ownCases({ port: 'list', name: 'ids are in the order of their values or code points' }, async (rows) => {
    const ids = present[rows.form]
    await rows.save(ids.toReversed())
    const created = { field: 'created_at', direction: 'asc' } as const
    same(await rows.ids({ field: 'id', direction: 'asc' }), ids, 'all ids, ascending')
    same(await rows.ids({ field: 'id', direction: 'desc' }), ids.toReversed(), 'all ids, descending')
    same(await rows.ids(created, { field: 'id', direction: 'asc' }), ids, 'rows created at the same time, by id')
    same(
      await rows.ids(created, { field: 'id', direction: 'desc' }),
      ids.toReversed(),
      'rows created at the same time, by descending id'
    )
  }),

  [defineIdCase('lists', {
    port: 'candidates.list', name: 'candidates: the id of a recruiter is compared exactly'
  }, async (harness) => {
    const { storage: { candidates }, saveCandidates } = harness as StorageHarness<Id, Id, Id, Id>
    const [idForm, form] = [formOf(harness, 'candidate'), formOf(harness, 'recruiter')]
    await saveCandidates(
      'acme',
      present[form].map((recruiterId, index) => ownCandidate(toSampleId(index + 1, idForm), recruiterId))
    )

    const expected = present[form].map((recruiterId, index): [Id, Id[]] => [
      recruiterId,
      [toSampleId(index + 1, idForm)]
    ])
    for (const [recruiterId, ids] of [
      ...expected,
      ...[...absent[form], ...unholdable[form]].map((id): [Id, Id[]] => [id, []])
    ]) {
      const rows = await candidates.list('acme', { ...firstRows, filter: { recruiterId }, fields: candidateFields })
      same(
        rows.map(({ id }) => id),
        ids,
        `the candidates of recruiter ${recruiterId}`
      )
      same(
        await candidates.count('acme', { recruiterId }),
        ids.length,
        `the number of candidates of recruiter ${recruiterId}`
      )
    }
  })]
].flat()

/** Creates the same case for candidates and for jobs. */
function ownCases (
  { port, name }: { port: 'list' | 'find', name: string },
  body: (rows: OwnRows) => Promise<void>
): StorageCase[] {
  return [
    defineIdCase('lists', { port: `candidates.${port}`, name: `candidates: ${name}` }, (harness) => {
      return body(ownCandidates(harness))
    }),
    defineIdCase('lists', { port: `jobs.${port}`, name: `jobs: ${name}` }, (harness) => body(ownJobs(harness)))
  ]
}

function formOf (harness: AnyStorageHarness, name: keyof IdKinds): IdForm {
  return findForm(findKinds(harness)[name], harness.hasUuids === true)
}

function ownCandidates (harness: AnyStorageHarness): OwnRows {
  const { storage: { candidates }, saveCandidates } = harness as StorageHarness<Id, Id, Id, Id>
  return {
    form: formOf(harness, 'candidate'),
    save: async (ids) => saveCandidates('acme', ids.map((id) => ownCandidate(id, null))),
    async ids (...sort) {
      return (await candidates.list('acme', { ...firstRows, sort, fields: candidateFields })).map(({ id }) => id)
    },
    find: async (id) => (await candidates.find('acme', id, { fields: candidateFields }))?.id ?? null
  }
}

function ownJobs (harness: AnyStorageHarness): OwnRows {
  const { storage: { jobs }, saveJobs } = harness as StorageHarness<Id, Id, Id, Id>
  return {
    form: formOf(harness, 'job'),
    save: async (ids) => saveJobs('acme', ids.map((id) => ({ ...job(1), id }))),
    async ids (...sort) {
      return (await jobs.list('acme', { ...firstRows, sort, fields: jobFields })).map(({ id }) => id)
    },
    find: async (id) => (await jobs.find('acme', id, { fields: jobFields }))?.id ?? null
  }
}

function ownCandidate (id: Id, recruiterId: Id | null) {
  return { ...candidate(1), id, recruiter_id: recruiterId }
}

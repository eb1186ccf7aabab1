import type { Id, IdKinds } from '../../../core/ports/index.js'
import { defineIdCase, findForm, findKinds, type IdForm, toSampleId } from '../support/case.js'
import { same } from '../support/expect.js'
import type { AnyStorageHarness, StorageHarness } from '../support/harness.js'
import { filterCasesOf, openRows, ownRowCases } from './rows.js'

// Each list is sorted by value or by code point.
const present: Record<IdForm, readonly Id[]> = {
  integer: [1, 9, 10, 12, 100, 4_294_967_297, 9_007_199_254_740_991],
  text: [
    '!', '"', '#1', '%', "'", '-', '01', '1', '10', '1e3', '9', '9007199254740993', 'A', 'Z', 'Zz', '\\', '_', 'a',
    'a-b', 'a.b', 'aa', 'ab', 'x'.repeat(64), 'z', '~'
  ],
  uuid: [
    '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-ffffffffffff',
    '00000001-0000-0000-0000-000000000000', '0197f4c2-8a10-7d3e-9b51-6c2f8e1a4d70',
    '7fffffff-ffff-4fff-bfff-ffffffffffff', '9197f4c2-8a10-7d3e-9b51-6c2f8e1a4d70',
    'a197f4c2-8a10-7d3e-9b51-6c2f8e1a4d70', 'ffffffff-ffff-ffff-ffff-ffffffffffff'
  ]
}

const absent: Record<IdForm, readonly Id[]> = {
  integer: [2, 11, 101, 4_294_967_298, 9_007_199_254_740_990],
  text: [
    'AA', 'aA', 'zz', '1.0', '1000', '9007199254740992', '%%', '__', 'a%', 'a_b', "'or'1'='1", 'null', '$1',
    'x'.repeat(63)
  ],
  uuid: [
    '00000000-0000-0000-0000-000000000002', '0197f4c2-8a10-7d3e-9b51-6c2f8e1a4d71',
    '00000000-0000-0000-0000-000000000000'
  ]
}

const strange = [
  'nobody', '0', '-1', '1e4', 'null', 'NaN', '~~', '\\\\', "''", '%%', 'y'.repeat(64),
  '0197f4c2-8a10-7d3e-9b51-6c2f8e1a4d7', '0197f4c2-8a10-7d3e-9b51-6c2f8e1a4d70a', '0197f4c28a107d3e9b516c2f8e1a4d70',
  '{0197f4c2-8a10-7d3e-9b51-6c2f8e1a4d70}'
]

/** Ids that no row has, and that some columns cannot store. */
const unholdable: Record<IdForm, readonly Id[]> = {
  integer: [2_147_483_648, 9_007_199_254_740_989], text: strange, uuid: strange
}

function formOf (harness: AnyStorageHarness, name: keyof IdKinds): IdForm {
  return findForm(findKinds(harness)[name], harness.hasUuids === true)
}

export const idCases = [
  ownRowCases('find', 'an id is compared exactly', async (rows, harness) => {
    const form = formOf(harness, rows.idKind)
    await rows.saveIds(present[form])
    for (const id of present[form]) same((await rows.find(id))?.id, id, `the id of row ${id}`)
    for (const id of absent[form]) same(await rows.find(id), null, `row ${id}, which does not exist`)
  }),

  ownRowCases('find', 'an id that no row can have is not found', async (rows, harness) => {
    const form = formOf(harness, rows.idKind)
    await rows.saveIds(present[form].slice(0, 1))
    for (const id of unholdable[form]) same(await rows.find(id), null, `row ${id}`)
  }),

  ownRowCases('list', 'ids are sorted by value or code point', async (rows, harness) => {
    const ids = present[formOf(harness, rows.idKind)]
    await rows.saveIds(ids.toReversed())
    for (const sort of [['id'], ['created_at', 'id']]) {
      same(await rows.ids({ sort }), ids, `all ids, created at the same time, by ${sort.join(' and ')}`)
    }
    for (const sort of [['-id'], ['created_at', '-id']]) {
      same(await rows.ids({ sort }), ids.toReversed(), `all ids, created at the same time, by ${sort.join(' and ')}`)
    }
  }),

  filterCasesOf(['id'], (resource, { name, field, id }) => {
    const title = `${resource}: the id of a ${id} is compared exactly`
    return [defineIdCase('lists', { port: `${resource}.list`, name: title }, async (harness) => {
      const rows = openRows(harness as StorageHarness<Id, Id, Id, Id>, resource)
      const [rowForm, form] = [formOf(harness, rows.idKind), formOf(harness, id)]
      const samples = present[form].map((value, index) => ({ id: toSampleId(index + 1, rowForm), [field]: value }))
      await rows.save(samples)
      for (const wanted of [...present[form], ...absent[form], ...unholdable[form]]) {
        const ids = samples.filter((sample) => sample[field] === wanted).map((sample) => sample.id)
        same(await rows.ids({ filter: { [name]: wanted } }), ids, `the ${resource} of ${id} ${wanted}`)
        same(await rows.count({ [name]: wanted }), ids.length, `the number of ${resource} of ${id} ${wanted}`)
      }
    })]
  })
].flat()

import t from 'tap'
import { keyLookupCases, storageCases } from '../../src/testing/index.js'
import { readPortComments } from '../fixtures/port-comments.js'

const cases = [...storageCases, ...keyLookupCases]
const said = [...new Set(cases.flatMap(({ says }) => says.split(' … ')))]

// What a method's comment says besides what can be proved.
const unproved = [
  'A hint alone: workers poll as well.',
  'Calls `onFault` when hints of other processes may be missed until the storage has mended it by itself.',
  'Throws if it can never work.',
  '`published` is `null` where lists are not served.',
  'Rejects with a `RecruitingApiError` (`storage_not_ready`) that says what to do.',
  'Returns what works but should be mended, as sentences for the log.'
]

t.test('what a case says the port says is in a comment of the ports, word by word', async (t) => {
  const comments = readPortComments().map(({ comment }) => comment)
  for (const sentence of said) t.ok(comments.some((comment) => comment.includes(sentence)), sentence)
})

t.test('a case proves each sentence that the comment of a method says', async (t) => {
  const sentences = readPortComments()
    .filter(({ isMethod }) => isMethod)
    .flatMap(({ comment }) => comment.split(/(?<=\.) (?=[A-Z`])/))
  t.ok(sentences.length > 50)
  for (const sentence of sentences) {
    const isProved = said.some((part) => part.includes(sentence) || sentence.includes(part))
    t.equal(isProved, !unproved.includes(sentence), sentence)
  }
})

t.test('no two cases have the same name', async (t) => {
  const names = cases.map(({ name }) => name)
  t.strictSame(names.filter((name, index) => names.indexOf(name) !== index), [])
})

t.test('every case is in one of the groups', async (t) => {
  t.strictSame([...new Set(cases.map(({ group }) => group))], ['lists', 'webhooks', 'deliveries', 'tenancy', 'races', 'keys'])
})

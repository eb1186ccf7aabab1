import t from 'tap'
import { keyLookupCases, storageCases } from '../../src/testing/index.js'
import { readPortComments } from '../fixtures/port-comments.js'

const cases = [...storageCases, ...keyLookupCases]
const said = [...new Set(cases.flatMap(({ says }) => says.split(' … ')))]

// Sentences in the comments of methods that no case proves.
const unproved = [
  'A hint only: workers also poll.',
  'Calls `onFault` when hints from other processes may be missed until the storage has recovered.',
  'Throws if it can never work.',
  '`published` is `null` if the process serves no lists.',
  'Rejects with a `RecruitingApiError` (`storage_not_ready`) that says what to do.',
  'Returns warnings, as sentences for the log.',
  'Returns whether the changes of a kind are recorded.',
  'If not, its `sync` does not exist.',
  'Called at startup and for the first page of each sync.',
  'Without this method, all changes count as recorded.',
  'Notes that the key with this id was used without a lookup.',
  '`cacheKeyLookup` calls it for answers from its cache, at most once a second for a key.'
]

t.test('each sentence that a case quotes is in a comment of the ports, word for word', async (t) => {
  const comments = readPortComments().map(({ comment }) => comment)
  for (const sentence of said) t.ok(comments.some((comment) => comment.includes(sentence)), sentence)
})

t.test('a case proves each sentence in the comment of a method', async (t) => {
  const sentences = readPortComments()
    .filter(({ isMethod }) => isMethod)
    .flatMap(({ comment }) => comment.split(/(?<=\.) (?=[A-Z`])/))
  t.ok(sentences.length > 50)
  for (const sentence of sentences) {
    const isProved = said.some((part) => part.includes(sentence) || sentence.includes(part))
    t.equal(isProved, !unproved.includes(sentence), sentence)
  }
})

t.test('every case has a name of its own', async (t) => {
  const names = cases.map(({ name }) => name)
  t.strictSame(names.filter((name, index) => names.indexOf(name) !== index), [])
})

t.test('every case belongs to one of the groups', async (t) => {
  t.strictSame([...new Set(cases.map(({ group }) => group))], ['lists', 'webhooks', 'deliveries', 'tenancy', 'races', 'sync', 'keys'])
})

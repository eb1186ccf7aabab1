import t from 'tap'
import { keyLookupCases, storageCases } from '../../src/testing/index.js'
import { readPortComments } from '../fixtures/port-comments.js'

const cases = [...storageCases, ...keyLookupCases]

t.test('what a case says the port says is in a comment of the ports, word by word', async (t) => {
  const comments = readPortComments()
  for (const { name, says } of cases) t.ok(comments.some((comment) => comment.includes(says)), `${name}: ${says}`)
})

t.test('no two cases have the same name', async (t) => {
  const names = cases.map(({ name }) => name)
  t.strictSame(names.filter((name, index) => names.indexOf(name) !== index), [])
})

t.test('every case is in one of the groups', async (t) => {
  t.strictSame([...new Set(cases.map(({ group }) => group))], ['lists', 'webhooks', 'deliveries', 'tenancy', 'races', 'keys'])
})

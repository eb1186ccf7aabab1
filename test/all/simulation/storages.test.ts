import t from 'tap'
import { memoryStorage } from '../../../src/storages/memory/index.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { readAnswers } from '../../simulation/storage-sequence.js'

t.test('500 sequences of 50 calls return the same in memory and in PostgreSQL', async (t) => {
  const { storage } = await startPostgresHost(t)
  const memory = memoryStorage()
  for (let seed = 1; seed <= 500; seed++) {
    const [expected, answers] = [await readAnswers(memory, seed, 50), await readAnswers(storage, seed, 50)]
    const differs = expected.findIndex((answer, index) => answer !== answers[index])
    if (differs === -1) continue
    return t.same(answers.slice(0, differs + 1), expected.slice(0, differs + 1), `seed ${seed}`)
  }
  t.pass()
})

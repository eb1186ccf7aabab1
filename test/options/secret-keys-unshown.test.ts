import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { memoryStorage } from '../../src/memory/index.js'

t.test('a key that is given in the place of the list of keys is not in the error', async (t) => {
  const options = { storage: memoryStorage(), secretKeys: 'correct horse battery staple' as never }
  t.throws(() => createRecruiting(options), { code: 'invalid_option', field: 'secretKeys', message: 'secretKeys: expected an array of Buffers, got "string"' })
})

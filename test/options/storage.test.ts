import t from 'tap'
import { memoryStorage } from '../../src/memory/index.js'
import { assertAccepted, assertRefused } from '../fixtures/refused-option.js'

const methods = {
  candidates: ['list', 'count'],
  jobs: ['list', 'count'],
  webhooks: [
    'list', 'count', 'find', 'nextId', 'create', 'update', 'delete', 'rotateSecret', 'findSecrets', 'listSecrets', 'replaceSecret'
  ],
  deliveries: [
    'record', 'claimDue', 'complete', 'release', 'hasPending', 'list', 'count', 'find', 'replay', 'prune', 'erase', 'stats', 'onDue'
  ]
}

t.test('a storage is an object', async (t) => {
  for (const [value, shown] of [[undefined, 'undefined'], [null, 'null'], ['memory', '"memory"'], [memoryStorage, 'a function']] as const) {
    await assertRefused(t, [{ storage: value }, 'storage', 'an object', shown])
  }
})

for (const [part, names] of Object.entries(methods)) {
  t.test(`storage.${part} is an object`, async (t) => {
    for (const [value, shown] of [[undefined, 'undefined'], [null, 'null'], [() => {}, 'a function']] as const) {
      await assertRefused(t, [{ storage: { ...memoryStorage(), [part]: value } }, `storage.${part}`, 'an object', shown])
    }
  })

  for (const name of names) {
    t.test(`a storage without ${part}.${name} is refused by this name`, async (t) => {
      const storage = memoryStorage()
      const port = { ...storage[part as keyof typeof storage] }
      await assertRefused(t, [{ storage: { ...storage, [part]: { ...port, [name]: undefined } } }, `storage.${part}.${name}`, 'a method', 'undefined'])
      await assertRefused(t, [{ storage: { ...storage, [part]: { ...port, [name]: 'SQL' } } }, `storage.${part}.${name}`, 'a method', '"SQL"'])
    })
  }
}

t.test('the ports may be instances of classes and come from different storages', async (t) => {
  class Candidates {
    async list () { return [] }
    async count () { return 0 }
  }
  await assertAccepted(t, { storage: { ...memoryStorage(), candidates: new Candidates() } })
})

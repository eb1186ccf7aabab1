import t from 'tap'
import { memoryStorage } from '../../src/memory/index.js'
import { assertAccepted, assertAcceptedByPlugin, assertRefused, assertRefusedByPlugin } from '../fixtures/refused-option.js'

const sources = { candidates: ['list', 'count', 'find'], jobs: ['list', 'count', 'find'] }
const ofEvents = {
  webhooks: [
    'list', 'count', 'find', 'nextId', 'create', 'update', 'delete', 'rotateSecret', 'findSecrets', 'findHeaders', 'findGraceEnd',
    'listSecrets', 'replaceSecret'
  ],
  deliveries: [
    'record', 'claimDue', 'recordAttempts', 'claimNotices', 'confirmNotice', 'release', 'hasPending', 'list', 'count', 'find', 'replay', 'countReplay',
    'prune', 'erase', 'listSubjectEvents', 'stats', 'onDue'
  ]
}

t.test('a storage is an object', async (t) => {
  for (const [value, shown] of [[undefined, 'undefined'], [null, 'null'], ['memory', '"memory"'], [memoryStorage, 'a function']] as const) {
    await assertRefused(t, [{ storage: value }, 'storage', 'an object', shown])
  }
})

for (const [methods, refuse] of [[ofEvents, assertRefused], [{ ...ofEvents, ...sources }, assertRefusedByPlugin]] as const) {
  for (const [part, names] of Object.entries(methods)) {
    t.test(`storage.${part} is an object, for ${refuse === assertRefused ? 'createRecruiting' : 'the plugin'}`, async (t) => {
      for (const [value, shown] of [[undefined, 'undefined'], [null, 'null'], [() => {}, 'a function']] as const) {
        await refuse(t, [{ storage: { ...memoryStorage(), [part]: value } }, `storage.${part}`, 'an object', shown])
      }
    })

    t.test(`storage.${part} without one of its methods is refused by its name, by ${refuse === assertRefused ? 'createRecruiting' : 'the plugin'}`, async (t) => {
      for (const name of names) {
        const storage = memoryStorage()
        const port = { ...storage[part as keyof typeof storage] }
        await refuse(t, [{ storage: { ...storage, [part]: { ...port, [name]: undefined } } }, `storage.${part}.${name}`, 'a method', 'undefined'])
        await refuse(t, [{ storage: { ...storage, [part]: { ...port, [name]: 'SQL' } } }, `storage.${part}.${name}`, 'a method', '"SQL"'])
      }
    })
  }
}

t.test('emitting and delivering need neither candidates nor jobs', async (t) => {
  const { webhooks, deliveries } = memoryStorage()
  await assertAccepted(t, { storage: { webhooks, deliveries } })
})

t.test('the ports may be instances of classes and come from different storages', async (t) => {
  class Candidates {
    async list () { return [] }
    async count () { return 0 }
    async find () { return null }
  }
  await assertAcceptedByPlugin(t, { storage: { ...memoryStorage(), candidates: new Candidates() } })
})

import t from 'tap'
import { memoryKeyLookup, memoryStorage } from '../../src/memory/index.js'
import { isRecruitingApiError } from '../../src/index.js'
import { apiKeys, migrate, postgresKeyLookup, postgresStorage } from '../../src/postgres/index.js'
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

t.test('an optional part of the storage without one of its methods is rejected by its name', async (t) => {
  for (const [part, methods] of Object.entries({
    changes: ['begin', 'list', 'record', 'prune', 'stats', 'tokenSecret'],
    feed: ['end', 'endBefore', 'find', 'list', 'latest', 'stats', 'tokenSecret'],
    holds: ['find', 'adopt'],
    idempotency: ['claim', 'save']
  })) {
    for (const name of methods) {
      const storage = memoryStorage()
      const partial = { ...storage, [part]: { ...Reflect.get(storage, part), [name]: undefined } }
      await assertRefused(t, [{ storage: partial }, `storage.${part}.${name}`, 'a method', 'undefined'])
    }
  }
})

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

const asked: string[] = []
const never = async (): Promise<never> => { asked.push('the database'); throw new Error('asked the database') }
const pool = { query: never, connect: never }
const key = { key: 'a-key', tenantSlug: 'acme', scopes: [] }

/** As a host without types may call them. */
const misspelt: Array<[call: string, field: string, nearest: string, run: (...args: never[]) => unknown, args: unknown[]]> = [
  ['memoryStorage', 'tenant', 'tenants', memoryStorage, [{ tenant: {} }]],
  ['memoryStorage, in a tenant', 'tenants.acme.candidate', 'candidates', memoryStorage, [{ tenants: { acme: { candidate: [] } } }]],
  ['memoryKeyLookup', 'time', 'clock', memoryKeyLookup, [[key], { time: { now: Date.now } }]],
  ['memoryKeyLookup, in a key', 'keys[1].expireAt', 'expiresAt', memoryKeyLookup, [[key, { ...key, key: 'b', expireAt: 'a secret' }]]],
  ['postgresStorage', 'queryTimeout', 'queryTimeoutMs', postgresStorage, [pool, { queryTimeout: 5 }]],
  ['postgresKeyLookup', 'scheme', 'schema', postgresKeyLookup, [pool, { scheme: 'ours' }]],
  ['migrate', 'shema', 'schema', migrate, [pool, { shema: 'ours' }]],
  ['apiKeys', 'prefixes', 'prefix', apiKeys, [pool, { prefixes: 'rk' }]]
]

for (const [call, field, nearest, run, args] of misspelt) {
  t.test(`a misspelt option is refused by ${call}, and its value is not shown`, async (t) => {
    const thrown = await Promise.resolve().then(() => run(...args as never[])).then(() => null, (error: unknown) => error)
    t.ok(isRecruitingApiError(thrown))
    const name = field.slice(field.lastIndexOf('.') + 1)
    t.match(thrown, { code: 'invalid_option', field, message: `${field}: expected a known name such as ${nearest}, got "${name}"` })
    t.strictSame(asked, [])
  })
}

t.test('a key in the place of a name is not shown', async (t) => {
  t.throws(() => memoryKeyLookup([{ 'a-secret-key': 'acme' }] as never), {
    field: 'keys[0].key',
    message: 'keys[0].key: expected 1 to 512 characters of A-Z a-z 0-9 - . _ ~ + / with = only at the end',
    code: 'invalid_option'
  })
})

t.test('rows have further fields', async (t) => {
  const candidates = [{ id: 1, full_name: 'Ada Lovelace', email: 'ada@example.com' }]
  const jobs = [{ id: 1, name: 'Nurse', status: 'open', office: 3 }]
  const storage = memoryStorage({ tenants: { acme: { candidates, jobs } } })
  storage.candidates.save('acme', { id: 2, full_name: 'Alan Turing', email: 'alan@example.com' })
  t.equal(await storage.candidates.count('acme', {}), 2)
})

t.test('an option of undefined means the default', async (t) => {
  memoryStorage({ tenants: undefined, clock: undefined } as object)
  memoryKeyLookup([{ ...key, id: undefined, expiresAt: undefined, revoked: undefined } as never], { clock: undefined } as object)
  postgresStorage(pool, { schema: undefined, candidates: undefined, jobs: undefined, queryTimeoutMs: undefined, totalsTtlMs: undefined } as object)
  postgresKeyLookup(pool, { schema: undefined, prefix: undefined, queryTimeoutMs: undefined, recordUses: undefined, clock: undefined } as object)
  apiKeys(pool, { schema: undefined, prefix: undefined, queryTimeoutMs: undefined } as object)
})

import t from 'tap'
import { memoryKeyLookup, memoryStorage } from '../../src/storages/memory/index.js'
import { isRecruitingApiError } from '../../src/index.js'
import { apiKeys, migrate, postgresKeyLookup, postgresStorage } from '../../src/storages/postgres/index.js'
import { assertAccepted, assertAcceptedByPlugin, assertRejected, assertRejectedByPlugin } from '../fixtures/rejected-option.js'

const reader = ['list', 'count', 'find']

/** The methods of each part of a storage, and who requires the part. */
const parts: Record<string, [methods: string[], neededBy: 'all' | 'the plugin' | 'none']> = {
  webhooks: [[
    'list', 'count', 'find', 'nextId', 'create', 'update', 'delete', 'rotateSecret', 'findSecrets', 'findHeaders', 'findGraceEnd',
    'listSecrets', 'replaceSecret'
  ], 'all'],
  deliveries: [[
    'record', 'claimDue', 'recordAttempts', 'recordAndClaim', 'claimNotices', 'confirmNotice', 'release', 'hasPending', 'list', 'count', 'find', 'replay', 'countReplay',
    'prune', 'erase', 'listSubjectEvents', 'stats', 'onDue'
  ], 'all'],
  candidates: [reader, 'the plugin'],
  jobs: [reader, 'the plugin'],
  changes: [['begin', 'list', 'record', 'prune', 'stats', 'tokenSecret'], 'none'],
  feed: [['end', 'endBefore', 'find', 'list', 'latest', 'stats', 'tokenSecret'], 'none'],
  holds: [['find', 'adopt'], 'none'],
  idempotency: [['claim', 'renew', 'save'], 'none']
}

t.test('a storage must be an object', async (t) => {
  for (const [value, shown] of [[undefined, 'undefined'], [null, 'null'], ['memory', '"memory"'], [memoryStorage, 'a function']] as const) {
    await assertRejected(t, [{ storage: value }, 'storage', 'an object', shown])
  }
})

for (const [part, [methods, neededBy]] of Object.entries(parts)) {
  t.test(`storage.${part} must have all its methods, and is required by ${neededBy}`, async (t) => {
    const reject = neededBy === 'the plugin' ? assertRejectedByPlugin : assertRejected
    const storage = memoryStorage()
    for (const [value, shown] of [[undefined, 'undefined'], [null, 'null'], [() => {}, 'a function']] as const) {
      const without = { storage: { ...storage, [part]: value } }
      if (neededBy === 'none' && value === undefined) await assertAccepted(t, without)
      else await reject(t, [without, `storage.${part}`, 'an object', shown])
      if (neededBy === 'the plugin' && value === undefined) await assertAccepted(t, without)
    }
    for (const name of methods) {
      for (const [value, shown] of [[undefined, 'undefined'], ['SQL', '"SQL"']] as const) {
        const partial = { ...storage, [part]: { ...Reflect.get(storage, part), [name]: value } }
        await reject(t, [{ storage: partial }, `storage.${part}.${name}`, 'a method', shown])
      }
    }
  })
}

t.test('ports can be class instances from different storages', async (t) => {
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

/** Untyped, like calls from JavaScript. */
type Run = (...args: never[]) => unknown
const misspelt: Array<[call: string, field: string, nearest: string, run: Run, args: unknown[]]> = [
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
  t.test(`${call} rejects a misspelt option without showing its value`, async (t) => {
    const thrown = await (async () => run(...args as never[]))().then(() => null, (error: unknown) => error)
    t.ok(isRecruitingApiError(thrown))
    const name = field.slice(field.lastIndexOf('.') + 1)
    t.match(thrown, { code: 'invalid_option', field, message: `${field}: expected a known name such as ${nearest}, got "${name}"` })
    t.strictSame(asked, [])
  })
}

t.test('a key passed as a property name is not shown', async (t) => {
  t.throws(() => memoryKeyLookup([{ 'a-secret-key': 'acme' }] as never), {
    field: 'keys[0].key',
    message: 'keys[0].key: expected 1 to 512 characters of A-Z a-z 0-9 - . _ ~ + / with = only at the end',
    code: 'invalid_option'
  })
})

t.test('an undefined option gets its default', async (t) => {
  const unset = (...names: string[]): object => Object.fromEntries(names.map((name) => [name, undefined]))
  memoryStorage(unset('tenants', 'clock'))
  memoryKeyLookup([{ ...key, ...unset('id', 'expiresAt', 'revoked') }], unset('clock'))
  postgresStorage(pool, unset('schema', 'candidates', 'jobs', 'queryTimeoutMs', 'totalsTtlMs'))
  postgresKeyLookup(pool, unset('schema', 'prefix', 'queryTimeoutMs', 'recordUses', 'clock'))
  apiKeys(pool, unset('schema', 'prefix', 'queryTimeoutMs'))
})

import { type TObject, Type } from '@sinclair/typebox'
import { compileSchema, createAjv } from '../shared/ajv.js'
import { expect, expectInteger, expectNames, refuse } from '../shared/expect.js'
import { omitUndefined } from '../shared/omit-undefined.js'
import type { EngineSettings, HttpOptions, HttpSettings, RecruitingApiOptions, RecruitingOptions } from './api.js'
import type { EventStorage, RecruitingStorage } from '../ports/index.js'
import { resolveDelivery } from './resolve-delivery.js'
import { resolveOpenApi } from './resolve-openapi.js'
import { resolveRateLimit } from './resolve-rate-limit.js'
import { type EventCatalogue, defaultEvents } from '../webhooks/events/catalogue.js'

const engineNames = {
  storage: true,
  events: true,
  maxWebhooksPerTenant: true,
  maxEventBytes: true,
  secretKeys: true,
  opentelemetry: true,
  delivery: true
} satisfies Record<keyof RecruitingOptions, true>

const httpNames = {
  keyLookup: true,
  prefix: true,
  candidateFields: true,
  jobFields: true,
  errorDetails: true,
  requestId: true,
  openapi: true,
  rateLimit: true,
  routes: true,
  onAudit: true
} satisfies Record<Exclude<keyof RecruitingApiOptions, keyof RecruitingOptions>, true>

/** Checks the options of `createRecruiting`. A host may give it those of the plugin as well, and they are checked too. */
export function resolveRecruitingOptions (options: RecruitingOptions): EngineSettings {
  expectOptions(options, { ...engineNames, ...httpNames, logger: true })
  const settings = resolveEngineOptions(options)
  const { keyLookup, ...http }: Partial<HttpOptions> = omitUndefined<object>(options)
  if (keyLookup !== undefined) assertKeyLookup(keyLookup)
  resolveHttpOptions(http)
  return settings
}

/** Checks the options of the plugin. */
export function resolveApiOptions (options: RecruitingApiOptions): { engine: EngineSettings, http: HttpSettings } {
  const { logger } = options as { logger?: unknown }
  expect(logger === undefined, 'logger', 'none, because the plugin logs with app.log', logger)
  // `register` of Fastify takes two options of its own.
  expectOptions(options, { ...engineNames, ...httpNames, logLevel: true, logSerializers: true })
  const engine = resolveEngineOptions(options)
  assertPorts(options.storage, sourceMethods)
  assertKeyLookup(options.keyLookup)
  return { engine, http: { keyLookup: options.keyLookup, ...resolveHttpOptions(options) } }
}

function expectOptions (options: object, names: object): void {
  expect(typeof options === 'object' && options !== null, 'options', 'an object', options)
  expectNames(options, names)
}

function resolveEngineOptions (options: RecruitingOptions): EngineSettings {
  const { storage, events = defaultEvents, maxWebhooksPerTenant = 50, maxEventBytes = 262_144 } = options
  const { secretKeys = [], opentelemetry = null, delivery = {} } = options
  expect(typeof storage === 'object' && storage !== null, 'storage', 'an object', storage)
  assertPorts(storage, eventMethods)
  if (events !== defaultEvents) assertEvents(events)
  expectInteger(maxWebhooksPerTenant, 'maxWebhooksPerTenant', 1, 10_000)
  expectInteger(maxEventBytes, 'maxEventBytes', 1024, 16_777_216)
  assertSecretKeys(secretKeys)
  const isApi = opentelemetry === null || typeof opentelemetry.trace?.getTracer === 'function'
  expect(isApi, 'opentelemetry', 'the module @opentelemetry/api', opentelemetry)
  return {
    storage,
    events,
    maxWebhooksPerTenant,
    maxEventBytes,
    secretKeys,
    opentelemetry,
    delivery: resolveDelivery(delivery === false ? { worker: false } : delivery)
  }
}

function assertKeyLookup (keyLookup: HttpOptions['keyLookup']): void {
  expect(typeof keyLookup === 'function', 'keyLookup', 'a function', keyLookup)
}

function resolveHttpOptions (options: Omit<HttpOptions, 'keyLookup'>): Omit<HttpSettings, 'keyLookup'> {
  const { prefix = '/api/v1/public', errorDetails = false, requestId = null, openapi = true, routes = null, onAudit = null } = options
  const { candidateFields = Type.Object({}), jobFields = Type.Object({}), rateLimit = false } = options
  expect(typeof prefix === 'string' && /^(\/[A-Za-z0-9\-._~]+)+$/.test(prefix), 'prefix', 'a path such as /api/v1/public', prefix)
  assertFields(candidateFields, 'candidateFields', ['id', 'full_name', 'headline', 'source_id'])
  assertFields(jobFields, 'jobFields', ['id', 'name', 'status'])
  expect(typeof errorDetails === 'boolean', 'errorDetails', 'a boolean', errorDetails)
  expect(requestId === null || typeof requestId === 'function', 'requestId', 'a function', requestId)
  expect(routes === null || typeof routes === 'function', 'routes', 'a Fastify plugin', routes)
  expect(onAudit === null || typeof onAudit === 'function', 'onAudit', 'a function', onAudit)
  return {
    prefix,
    candidateFields,
    jobFields,
    errorDetails,
    requestId,
    openapi: resolveOpenApi(openapi),
    rateLimit: rateLimit === false ? null : resolveRateLimit(rateLimit === true ? {} : rateLimit),
    routes,
    onAudit
  }
}

/** Every method of each port, so that a new one cannot be forgotten. */
type MethodNames<Storage> = { [Part in keyof Storage]: Record<keyof Storage[Part], true> }

const sourceMethods = {
  candidates: { list: true, count: true },
  jobs: { list: true, count: true }
} satisfies MethodNames<Pick<RecruitingStorage, 'candidates' | 'jobs'>>

const eventMethods = {
  webhooks: {
    list: true,
    count: true,
    find: true,
    nextId: true,
    create: true,
    update: true,
    delete: true,
    rotateSecret: true,
    findSecrets: true,
    listSecrets: true,
    replaceSecret: true
  },
  deliveries: {
    record: true,
    claimDue: true,
    complete: true,
    claimNotices: true,
    confirmNotice: true,
    release: true,
    hasPending: true,
    list: true,
    count: true,
    find: true,
    replay: true,
    prune: true,
    erase: true,
    stats: true,
    onDue: true
  }
} satisfies MethodNames<Pick<EventStorage, 'webhooks' | 'deliveries'>>

function assertPorts (storage: object, methodNames: Record<string, object>): void {
  for (const [part, methods] of Object.entries(methodNames)) {
    const path = `storage.${part}`
    const port: unknown = Reflect.get(storage, part)
    expect(typeof port === 'object' && port !== null, path, 'an object', port)
    for (const method of Object.keys(methods)) {
      const value: unknown = Reflect.get(port, method)
      expect(typeof value === 'function', `${path}.${method}`, 'a method', value)
    }
  }
}

function assertEvents (events: EventCatalogue): void {
  expect(typeof events === 'object' && events !== null, 'events', 'a map from event names to TypeBox schemas', events)
  expect(Object.keys(events).length > 0, 'events', 'at least one event', events)
  const ajv = createAjv({ useDefaults: false })
  for (const [name, schema] of Object.entries(events)) {
    expect(/^[a-z0-9_]+(\.[a-z0-9_]+)+$/.test(name) && name.length <= 100, `events["${name}"]`, 'a name such as application.created', name)
    assertSchema(schema, `events["${name}"]`, ajv)
  }
}

function assertFields (fields: TObject, path: string, taken: readonly string[]): void {
  assertSchema(fields, path)
  for (const name of Object.keys(fields.properties)) {
    expect(!taken.includes(name), `${path}.${name}`, 'a field that the contract does not have already', name)
  }
}

function assertSchema (schema: TObject, path: string, ajv = createAjv({ useDefaults: false })): void {
  expect(typeof schema === 'object' && schema !== null && schema.type === 'object', path, 'a TypeBox object schema', schema)
  try {
    compileSchema(ajv, schema)
  } catch (error) {
    refuse(path, `a valid schema (${error instanceof Error ? error.message : String(error)})`, schema)
  }
}

function assertSecretKeys (keys: readonly Uint8Array[]): void {
  // No value is shown here: it may be a key.
  expect(Array.isArray(keys), 'secretKeys', 'an array of Buffers', typeof keys)
  for (const [index, key] of keys.entries()) {
    const isKey = key instanceof Uint8Array && key.length === 32
    expect(isKey, `secretKeys[${index}]`, 'a Buffer of 32 bytes', key instanceof Uint8Array ? `${key.length} bytes` : typeof key)
  }
}

import * as opentelemetry from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, InjectOptions } from 'fastify'
import t from 'tap'
import { createRecruiting, type DeliveryOptions, type OpenTelemetryApi } from '../../src/index.js'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { type AppOverrides, bearer, buildApp, keys, type Teardown } from '../fixtures/api/app.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'
import { toLoopback } from '../fixtures/api/webhook-api.js'
import { createMachines, event } from '../fixtures/delivery/engine.js'
import { captureLogs } from '../fixtures/api/logs.js'
import { watchRejections } from '../fixtures/delivery/rejections.js'
import { assertAccepted, assertRejected } from '../fixtures/rejected-option.js'

const exporter = new InMemorySpanExporter()
const startTracing = (): void => {
  const spanProcessors = [new SimpleSpanProcessor(exporter)]
  opentelemetry.trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }))
}

startTracing()
opentelemetry.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
t.beforeEach(() => exporter.reset())

const base = '/api/v1/public/acme'
const headers = bearer(keys.full)

/** A host whose route creates an application and emits within its own handler. */
function buildTraced (t: Teardown, overrides: AppOverrides = {}) {
  return buildApp(t, {
    opentelemetry,
    async routes (app) {
      app.post('/applications', {
        config: { scopes: [] },
        schema: { operationId: 'createApplication', response: { 201: Type.Object({ id: Type.String() }) } }
      }, async (_request, reply) => {
        reply.code(201)
        const { id } = await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: { id: 1 } })
        return { id }
      })
    },
    ...overrides
  })
}

function spans () {
  return exporter.getFinishedSpans().map((span) => {
    const { name, kind, attributes, status, parentSpanContext } = span
    const { spanId: id, traceId: trace } = span.spanContext()
    return { name, kind, attributes, status, parent: parentSpanContext?.spanId, id, trace }
  })
}

function spanOf (name: string) {
  return spans().find((span) => span.name === name)
}

/** Injects a request within a span, like HTTP instrumentation. */
async function injectTraced (app: FastifyInstance, request: InjectOptions) {
  const span = opentelemetry.trace.getTracer('http').startSpan('GET', { kind: opentelemetry.SpanKind.SERVER })
  const within = opentelemetry.trace.setSpan(opentelemetry.context.active(), span)
  const answer = await opentelemetry.context.with(within, () => app.inject(request))
  span.end()
  return answer
}

t.test('one trace contains the request, the emit and the delivery', async (t) => {
  const receiver = await startReceiver(t)
  const app = await buildTraced(t, { delivery: { ...toLoopback } })
  const payload = { name: 'ATS', target_url: receiver.url, event_types: ['application.created'] }
  const { data: webhook } = (await app.inject({ method: 'POST', url: `${base}/webhooks`, headers, payload })).json()
  exporter.reset()
  const answer = await injectTraced(app, { method: 'POST', url: `${base}/applications`, headers })
  await app.recruiting.drain()
  const [request, emit, attempt] = ['GET', 'emit application.created', 'deliver application.created'].map(spanOf)
  const eventId = answer.json().id
  t.match(emit, {
    name: 'emit application.created',
    kind: opentelemetry.SpanKind.PRODUCER,
    parent: request?.id,
    attributes: { 'recruiting.tenant': 'acme', 'recruiting.event_type': 'application.created', 'recruiting.event_id': eventId }
  })
  t.match(attempt, {
    name: 'deliver application.created',
    kind: opentelemetry.SpanKind.CLIENT,
    parent: emit?.id,
    trace: request?.trace,
    status: { code: opentelemetry.SpanStatusCode.UNSET },
    attributes: {
      'recruiting.event_id': eventId, 'recruiting.webhook_id': webhook.id, 'recruiting.attempt': 1, 'recruiting.outcome': 'delivered', 'http.response.status_code': 204
    }
  })
})

t.test('a request sets attributes on the active span and creates none', async (t) => {
  const app = await buildTraced(t)
  const answer = await injectTraced(app, { url: `${base}/jobs?filter[q]=ada`, headers })
  t.match(spans().map(({ name, attributes }) => [name, attributes]), [['GET', {
    'http.route': '/api/v1/public/:tenant_slug/jobs',
    'recruiting.operation': 'listJobs',
    'recruiting.request_id': answer.headers['x-request-id'],
    'recruiting.tenant': 'acme'
  }]])
  t.equal(Object.keys(spans()[0]?.attributes ?? {}).length, 4)
})

t.test('without an active span, a request creates none, not even from its traceparent header', async (t) => {
  const app = await buildTraced(t)
  opentelemetry.propagation.setGlobalPropagator({ inject () {}, fields: () => [], extract: () => t.fail('the header is read') as never })
  t.teardown(async () => opentelemetry.propagation.disable())
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  t.equal((await app.inject({ url: `${base}/jobs`, headers: { ...headers, traceparent } })).statusCode, 200)
  t.same(spans(), [])
})

t.test('spans of failed emits and failed attempts have the status error', async (t) => {
  const app = await buildTraced(t, { delivery: { ...toLoopback, retrySchedule: [0] } })
  await t.rejects(app.recruiting.emit({ tenantSlug: '', type: 'application.created', data: {} }))
  t.match(spans(), [{ name: 'emit application.created', status: { code: opentelemetry.SpanStatusCode.ERROR } }])
  exporter.reset()
  const payload = { name: 'ATS', target_url: 'http://127.0.0.1:1/', event_types: ['application.created'] }
  await app.inject({ method: 'POST', url: `${base}/webhooks`, headers, payload })
  await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
  await app.recruiting.drain()
  t.match(spanOf('deliver application.created'), {
    status: { code: opentelemetry.SpanStatusCode.ERROR, message: 'connection' }, attributes: { 'recruiting.outcome': 'failed' }
  })
})

/** Starts one process that emits and another that delivers, on the same storage. */
async function startTwo (t: Teardown, delivery: DeliveryOptions) {
  const storage = memoryStorage()
  const receiver = await startReceiver(t)
  const emitter = await buildTraced(t, { storage, delivery: { ...toLoopback, worker: false } })
  const payload = { name: 'ATS', target_url: receiver.url, event_types: ['application.created'] }
  await emitter.inject({ method: 'POST', url: `${base}/webhooks`, headers, payload })
  exporter.reset()
  const deliver = async (): Promise<void> => {
    const worker = createRecruiting({ storage, opentelemetry, delivery: { ...toLoopback, ...delivery } })
    await worker.drain()
    await worker.close()
  }
  return { emitter, receiver, storage, deliver }
}

t.test('an attempt in another process continues the trace of the request that emitted the event', async (t) => {
  const { emitter, receiver, deliver } = await startTwo(t, { retrySchedule: [0, 0] })
  receiver.answer(500, 204)
  const { id } = (await injectTraced(emitter, { method: 'POST', url: `${base}/applications`, headers })).json()
  await deliver()
  const [request, emit] = ['GET', 'emit application.created'].map(spanOf)
  const attempts = spans().filter(({ name }) => name === 'deliver application.created')
  t.match(attempts, [1, 2].map((attempt) => ({
    parent: emit?.id, trace: request?.trace, attributes: { 'recruiting.event_id': id, 'recruiting.attempt': attempt, 'recruiting.outcome': attempt === 1 ? 'retry' : 'delivered' }
  })))
  t.equal(attempts.length, 2)
  for (const { headers } of receiver.requests) t.equal(headers['traceparent'], undefined, 'not sent without the option')
})

t.test("with propagateTrace, the receiver gets the attempt's span", async (t) => {
  const { emitter, receiver, deliver } = await startTwo(t, { propagateTrace: true })
  await injectTraced(emitter, { method: 'POST', url: `${base}/applications`, headers })
  await deliver()
  const attempt = spanOf('deliver application.created')
  t.equal(receiver.requests[0]?.headers['traceparent'], `00-${attempt?.trace}-${attempt?.id}-01`)
})

t.test('an event without a valid trace starts a new one', async (t) => {
  const { storage, receiver, deliver } = await startTwo(t, { propagateTrace: true })
  const traceParents = [undefined, null, '', 'unknown', `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`]
  for (const [index, traceParent] of traceParents.entries()) {
    const event = { id: `evt_${index}`, type: 'application.created', body: '{}', subject: null, tombstone: null, idempotencyKey: null, fingerprint: '' }
    await storage.deliveries.record('acme', traceParent === undefined ? event : { ...event, traceParent })
  }
  await deliver()
  const attempts = spans()
  t.equal(new Set(attempts.map(({ trace }) => trace)).size, traceParents.length)
  t.ok(attempts.every(({ parent }) => parent === undefined))
  t.same(receiver.requests.map(({ headers }) => headers['traceparent']).sort(), attempts.map(({ trace, id }) => `00-${trace}-${id}-01`).sort())
})

t.test('propagateTrace needs the option opentelemetry', async (t) => {
  const message = 'delivery.propagateTrace: expected false without the option opentelemetry, got true'
  t.throws(() => createRecruiting({ storage: memoryStorage(), delivery: { propagateTrace: true } }), { code: 'invalid_option', field: 'delivery.propagateTrace', message })
})

t.test('without a tracer provider, spans have no ids, and nothing is stored or sent', async (t) => {
  const { emitter, receiver, storage, deliver } = await startTwo(t, { propagateTrace: true })
  const recorded: unknown[] = []
  const { record } = storage.deliveries
  storage.deliveries.record = (tenant, event, transaction) => {
    recorded.push(event.traceParent)
    return record(tenant, event, transaction)
  }
  opentelemetry.trace.disable()
  t.teardown(startTracing)
  const quiet = await buildTraced(t, { storage, delivery: { ...toLoopback, worker: false } })
  await quiet.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
  await deliver()
  t.same(recorded, [null])
  t.equal(receiver.requests[0]?.headers['traceparent'], undefined)
  await emitter.close()
})

/** Returns an OpenTelemetry API with one failing function, and the names of called functions. */
function breakTelemetry (broken: string, fail: () => never): { api: OpenTelemetryApi, calls: Set<string> } {
  const calls = new Set<string>()
  const wrap = (value: unknown): unknown => {
    if (Object(value) !== value) return value
    return new Proxy(value as object, {
      get (target, name) {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function') return wrap(member)
        return (...args: unknown[]) => {
          calls.add(String(name))
          if (name === broken && name !== 'with') return fail()
          const result: unknown = Reflect.apply(member, target, args)
          return name === broken ? fail() : wrap(result)
        }
      }
    })
  }
  return { api: wrap(opentelemetry) as OpenTelemetryApi, calls }
}

const spanParts = ['startSpan', 'spanContext', 'setAttribute', 'setStatus', 'end', 'with']

function throwError (): never {
  throw new Error('the exporter is gone')
}

const ways: Array<[way: string, fail: () => never, parts: string[]]> = [
  ['throws', throwError, [...spanParts, 'setSpan', 'setSpanContext', 'active']],
  // The types do not allow it.
  ['rejects', (async () => throwError()) as unknown as () => never, spanParts]
]

for (const [way, fail, parts] of ways) {
  for (const part of parts) {
    t.test(`if ${part} of OpenTelemetry ${way}, each event and each attempt is recorded once`, async (t) => {
      const rejections = watchRejections(t)
      const receiver = await startReceiver(t)
      const { addWebhook, clock, deliveries, start, storage } = createMachines(t)
      const id = await addWebhook(receiver.url)
      const { api, calls } = breakTelemetry(part, fail)
      const lines: Array<[fields: object, message: string]> = []
      const engine = start({
        opentelemetry: api,
        logger: { info () {}, warn () {}, error: (fields, message) => { lines.push([fields, message]) } },
        delivery: { retrySchedule: [0, 5] }
      })
      receiver.answer(500, 204)
      t.match(await engine.emit(event), { id: /^evt_/, deliveries: 1 })
      await engine.drain()
      await clock.advance(6010)
      await engine.drain()
      t.same(await deliveries(id), [['delivered', 2]])

      const fault = new Error('storage is down')
      storage.deliveries.record = async () => { throw fault }
      const thrown = await engine.emit(event).then(() => null, (error: unknown) => error)
      t.equal(thrown, fault)
      await engine.close()
      t.ok(calls.has(part))
      t.match(lines[0], [{ err: { message: 'the exporter is gone' } }, 'the option opentelemetry failed'])
      t.same(rejections, [])
    })
  }
}

for (const [way, fail, parts] of [['throws', throwError, ['active', 'getSpan', 'setAttribute']], ['rejects', ways[1]?.[1], ['setAttribute']]] as Array<[string, () => never, string[]]>) {
  for (const part of parts) {
    t.test(
      `if ${part} of OpenTelemetry ${way}, the response does not change and the error is logged`,
      async (t) => {
        const rejections = watchRejections(t)
        const logs = captureLogs()
        const { api, calls } = breakTelemetry(part, fail)
        const app = await buildApp(t, { opentelemetry: api, server: { logger: logs.logger } })
        t.equal((await injectTraced(app, { url: `${base}/jobs`, headers })).statusCode, 200)
        t.ok(calls.has(part))
        t.match(await logs.waitFor('the option opentelemetry failed'), { err: { message: 'the exporter is gone' } })
        t.same(rejections, [])
      }
    )
  }
}

t.test('opentelemetry must be the module @opentelemetry/api', async (t) => {
  for (const [value, shown] of [[true, 'true'], [{}, 'an object'], [{ trace: {} }, 'an object'], [{ trace: null }, 'an object']] as const) {
    await assertRejected(t, [{ opentelemetry: value }, 'opentelemetry', 'the module @opentelemetry/api', shown])
  }
  await assertAccepted(t, { opentelemetry })
  await assertAccepted(t, { opentelemetry: undefined })
  await assertAccepted(t, { opentelemetry: null })
})

import * as opentelemetry from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { Type } from '@sinclair/typebox'
import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { memoryStorage } from '../../src/memory/index.js'
import { type AppOverrides, type Teardown, bearer, buildApp, keys } from '../fixtures/app.js'
import { startReceiver } from '../fixtures/receiver.js'
import { toLoopback } from '../fixtures/webhook-api.js'

const exporter = new InMemorySpanExporter()
opentelemetry.trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
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

t.test('one trace shows an application created and its webhook delivered', async (t) => {
  const receiver = await startReceiver(t)
  const app = await buildTraced(t, { delivery: { ...toLoopback } })
  const payload = { name: 'ATS', target_url: receiver.url, event_types: ['application.created'] }
  const { data: webhook } = (await app.inject({ method: 'POST', url: `${base}/webhooks`, headers, payload })).json()
  exporter.reset()
  const answer = await app.inject({ method: 'POST', url: `${base}/applications`, headers })
  await app.recruiting.drain()
  const [request, emit, attempt] = ['createApplication', 'emit application.created', 'deliver application.created'].map(spanOf)
  const eventId = answer.json().id
  t.match(request, {
    name: 'createApplication',
    kind: opentelemetry.SpanKind.SERVER,
    parent: undefined,
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/api/v1/public/:tenant_slug/applications',
      'http.response.status_code': 201,
      'recruiting.request_id': answer.headers['x-request-id'],
      'recruiting.tenant': 'acme'
    }
  })
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

t.test('a request is part of the trace that is active, or that its headers name', async (t) => {
  const app = await buildTraced(t)
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  opentelemetry.propagation.setGlobalPropagator({
    inject () {},
    fields: () => [],
    extract: (context, carrier: { traceparent?: string }) => carrier.traceparent === undefined
      ? context
      : opentelemetry.trace.setSpanContext(context, { traceId: carrier.traceparent, spanId: 'b7ad6b7169203331', traceFlags: 1 })
  })
  t.teardown(async () => opentelemetry.propagation.disable())
  await app.inject({ url: `${base}/jobs`, headers: { ...headers, traceparent: traceId } })
  t.match(spans(), [{ name: 'listJobs', trace: traceId, parent: 'b7ad6b7169203331' }])
  exporter.reset()
  const outer = opentelemetry.trace.getTracer('host').startSpan('outer')
  await opentelemetry.context.with(opentelemetry.trace.setSpan(opentelemetry.context.active(), outer), async () => {
    await app.inject({ url: `${base}/jobs`, headers: { ...headers, traceparent: traceId } })
  })
  t.equal(spans()[0]?.parent, outer.spanContext().spanId)
})

t.test('what is refused has a span with its status, and names no tenant without a key', async (t) => {
  const app = await buildTraced(t, { keyLookup: async ({ key }) => { if (key === 'fails') throw new Error('gone'); return null } })
  for (const key of ['unknown', 'fails']) await app.inject({ url: `${base}/nothing`, headers: bearer(key) })
  const [unknown, failed] = spans()
  t.match(unknown, { name: /^GET/, attributes: { 'http.response.status_code': 401 }, status: { code: opentelemetry.SpanStatusCode.UNSET } })
  t.match(failed, { attributes: { 'http.response.status_code': 500 }, status: { code: opentelemetry.SpanStatusCode.ERROR } })
  t.notOk('recruiting.tenant' in (unknown?.attributes ?? {}))
})

t.test('what the host answers before has no span', async (t) => {
  const app = await buildTraced(t, { openapi: false, before (app) { app.addHook('onRequest', async (_request, reply) => reply.code(204).send()) } })
  await app.inject({ url: `${base}/jobs`, headers })
  t.same(spans(), [])
})

t.test('an emit that fails, and an attempt that fails, are errors', async (t) => {
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

t.test('an attempt by another process is found by the id of its event', async (t) => {
  const storage = memoryStorage()
  const receiver = await startReceiver(t)
  const emitter = await buildTraced(t, { storage, delivery: { ...toLoopback, worker: false } })
  const payload = { name: 'ATS', target_url: receiver.url, event_types: ['application.created'] }
  await emitter.inject({ method: 'POST', url: `${base}/webhooks`, headers, payload })
  const { id } = await emitter.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
  exporter.reset()
  const worker = createRecruiting({ storage, opentelemetry, delivery: toLoopback })
  await worker.drain()
  await worker.close()
  t.equal(spans()[0]?.parent, undefined)
  t.match(spans(), [{ name: 'deliver application.created', attributes: { 'recruiting.event_id': id } }])
})

t.test('of a great many events the latest are known', async (t) => {
  const app = await buildTraced(t)
  for (let count = 0; count < 10_001; count++) await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
  t.equal(exporter.getFinishedSpans().length, 10_001)
})

import * as opentelemetry from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, InjectOptions } from 'fastify'
import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { memoryStorage } from '../../src/memory/index.js'
import { type AppOverrides, type Teardown, bearer, buildApp, keys } from '../fixtures/api/app.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'
import { toLoopback } from '../fixtures/api/webhook-api.js'

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

/** Injects a request within a span, as an instrumentation of HTTP makes one. */
async function injectTraced (app: FastifyInstance, request: InjectOptions) {
  const span = opentelemetry.trace.getTracer('http').startSpan('GET', { kind: opentelemetry.SpanKind.SERVER })
  const answer = await opentelemetry.context.with(opentelemetry.trace.setSpan(opentelemetry.context.active(), span), () => app.inject(request))
  span.end()
  return answer
}

t.test('one trace shows an application created and its webhook delivered', async (t) => {
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

t.test('a request sets attributes on the span that is active, and makes none', async (t) => {
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

t.test('without a span, and whatever the caller\'s headers name, none is made', async (t) => {
  const app = await buildTraced(t)
  opentelemetry.propagation.setGlobalPropagator({ inject () {}, fields: () => [], extract: () => t.fail('it is read') as never })
  t.teardown(async () => opentelemetry.propagation.disable())
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  t.equal((await app.inject({ url: `${base}/jobs`, headers: { ...headers, traceparent } })).statusCode, 200)
  t.same(spans(), [])
})

t.test('the span of a request without a valid key names no tenant', async (t) => {
  const app = await buildTraced(t)
  const answer = await injectTraced(app, { url: `${base}/nothing`, headers: bearer('unknown') })
  t.same(spans().map(({ attributes }) => attributes), [{ 'recruiting.request_id': answer.headers['x-request-id'] }])
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

// One trace from the request that emits an event to its receiver. Your own setup exports the spans; this one prints
// them.
//
// npm install @opentelemetry/api @opentelemetry/context-async-hooks @opentelemetry/sdk-trace-base
// tsx examples/22-traces.ts

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as opentelemetry from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, ConsoleSpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { createRecruiting } from 'fastify-recruiting-api'
import { memoryStorage } from 'fastify-recruiting-api/memory'

opentelemetry.trace.setGlobalTracerProvider(
  new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new ConsoleSpanExporter())] })
)
opentelemetry.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())

// A customer's receiver, which can continue the trace.
const receiver = createServer((request, response) => {
  console.log(`received the span ${request.headers['traceparent']}`)
  response.writeHead(204).end()
}).listen(0, '127.0.0.1')
await once(receiver, 'listening')
const { port } = receiver.address() as AddressInfo

const recruiting = createRecruiting({
  storage: memoryStorage(),
  logger: console,
  opentelemetry,
  // The last two allow a receiver on this machine. Remove them in production.
  delivery: { propagateTrace: true, allowHttp: true, allowNetworks: ['127.0.0.0/8'] }
})
await recruiting.webhooks.create('acme', {
  name: 'CRM sync',
  target_url: `http://127.0.0.1:${port}/`,
  event_types: ['application.created']
})

// In a server, the request's span is already active.
await opentelemetry.trace.getTracer('ats').startActiveSpan('POST /applications', async (span) => {
  await recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: { id: 1 } })
  console.log(`the request has the trace ${span.spanContext().traceId}`)
  span.end()
})
await recruiting.drain()

await recruiting.close()
receiver.closeAllConnections()
receiver.close()

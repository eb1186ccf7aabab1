import t from 'tap'
import type { OpenTelemetryApi, TraceContext, TraceSpan } from '../../src/index.js'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'
import { createMachines, event } from '../fixtures/delivery/engine.js'
import { captureLogs } from '../fixtures/api/logs.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'
import { watchRejections } from '../fixtures/delivery/rejections.js'

/** An OpenTelemetry of which one part fails. */
function breakTelemetry (broken: string, fail: () => never): { api: OpenTelemetryApi, calls: Set<string> } {
  const calls = new Set<string>()
  function part<Args extends unknown[], Result> (name: string, work: (...args: Args) => Result): (...args: Args) => Result {
    return (...args) => {
      calls.add(name)
      return name === broken ? fail() : work(...args)
    }
  }
  const root: TraceContext = { getValue: () => undefined, setValue: () => root, deleteValue: () => root }
  const span: TraceSpan = {
    spanContext: part('spanContext', () => ({ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1 })),
    setAttribute: part('setAttribute', () => {}),
    setStatus: part('setStatus', () => {}),
    end: part('end', () => {})
  }
  const api = {
    trace: {
      getTracer: () => ({ startSpan: part('startSpan', () => span) }),
      getSpan: part('getSpan', () => span),
      setSpan: part('setSpan', () => root),
      setSpanContext: part('setSpanContext', () => root)
    },
    context: {
      active: part('active', () => root),
      with<T> (_context: TraceContext, run: () => T) {
        const result = run()
        return part('with', () => result)()
      }
    },
    SpanKind: { CLIENT: 2, PRODUCER: 3 },
    SpanStatusCode: { ERROR: 2 }
  }
  return { api, calls }
}

const spanParts = ['startSpan', 'spanContext', 'setAttribute', 'setStatus', 'end', 'with']

function throwError (): never {
  throw new Error('the exporter is gone')
}

const ways: Array<[way: string, fail: () => never, parts: string[]]> = [
  ['throws', throwError, [...spanParts, 'setSpan', 'setSpanContext', 'active']],
  // Whatever the types say.
  ['rejects', (async () => throwError()) as unknown as () => never, spanParts]
]

for (const [way, fail, parts] of ways) {
  for (const part of parts) {
    t.test(`where ${part} of OpenTelemetry ${way}, events are recorded once and their attempts too`, async (t) => {
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
    t.test(`where ${part} of OpenTelemetry ${way}, requests are answered as ever and the log says why`, async (t) => {
      const rejections = watchRejections(t)
      const logs = captureLogs()
      const { api, calls } = breakTelemetry(part, fail)
      const app = await buildApp(t, { opentelemetry: api, server: { logger: logs.logger } })
      t.equal((await app.inject({ url: '/api/v1/public/acme/jobs', headers: bearer(keys.full) })).statusCode, 200)
      t.ok(calls.has(part))
      t.match(await logs.waitFor('the option opentelemetry failed'), { err: { message: 'the exporter is gone' } })
      t.same(rejections, [])
    })
  }
}

import { callHost } from './call-host.js'
import type { AttemptResult, ClaimedDelivery } from '../ports/index.js'
import type { Logger } from './logger.js'
import { trimEntries } from '../shared/trim-entries.js'

/** OpenTelemetry's context: which span is active. It is handed on as it is. */
export interface TraceContext {
  getValue (key: symbol): unknown
  setValue (key: symbol, value: unknown): TraceContext
  deleteValue (key: symbol): TraceContext
}

/** The part of a span that is used. */
export interface TraceSpan {
  setAttribute (name: string, value: string | number): unknown
  setStatus (status: { code: number, message?: string }): unknown
  end (): void
}

/** The part of a tracer that is used. */
export interface Tracer {
  startSpan (name: string, options: { kind: number, startTime?: number, attributes: Record<string, string | number> }, context: TraceContext): TraceSpan
}

/** The part of `@opentelemetry/api` that is used; `import * as opentelemetry from '@opentelemetry/api'` fits. */
export interface OpenTelemetryApi {
  trace: {
    getTracer (name: string): Tracer
    getSpan (context: TraceContext): TraceSpan | undefined
    setSpan (context: TraceContext, span: TraceSpan): TraceContext
  }
  context: {
    active (): TraceContext
    with<T> (context: TraceContext, run: () => T): T
  }
  SpanKind: { CLIENT: number, PRODUCER: number }
  SpanStatusCode: { ERROR: number }
}

/** Spans of emits and attempts, and attributes of requests. */
export interface Tracing {
  /** Sets attributes on the active span, if there is one: that of the request, which an instrumentation of the host makes. */
  describeRequest (attributes: Record<string, string | null | undefined>): void
  /** The span of an emit around it, within the one that is active. */
  emit<T extends { id: string }> (event: { tenantSlug: string, type: string }, run: () => Promise<T>): Promise<T>
  /** The span of an attempt that has ended, within that of its emit where this process knows it. */
  attempt (delivery: ClaimedDelivery, result: AttemptResult): void
}

/** Of how many of the latest events the span is known. */
const maxKnown = 10_000

/**
 * Makes spans with the tracer of this package. Of an emit that another process made nothing is known. What OpenTelemetry
 * throws or rejects with is logged: the emit or attempt goes on without its span.
 */
export function createTracing ({ trace, context, SpanKind, SpanStatusCode }: OpenTelemetryApi, log: Logger): Tracing {
  const tracer = trace.getTracer('fastify-recruiting-api')
  // The ports keep no trace, so what another process delivers is found by the event's id alone.
  const emits = new Map<string, TraceContext>()

  function within<T> (span: TraceSpan, run: () => T): T {
    return context.with(trace.setSpan(context.active(), span), run)
  }

  function guard<Result> (call: () => Result): Result | undefined {
    return callHost(call, (err) => log.error({ err }, 'the option opentelemetry failed'))
  }

  function setError (span: TraceSpan, message?: string): void {
    guard(() => span.setStatus({ code: SpanStatusCode.ERROR, ...(message === undefined ? {} : { message }) }))
  }

  /** Runs it once, within the span unless that fails. */
  function runWithin<Result> (span: TraceSpan, run: () => Promise<Result>): Promise<Result> {
    let running: Promise<Result> | undefined
    const runOnce = (): Promise<Result> => (running ??= run())
    guard(() => within(span, () => { runOnce() }))
    return runOnce()
  }

  function remember (eventId: string, span: TraceSpan): void {
    emits.set(eventId, trace.setSpan(context.active(), span))
    trimEntries(emits, maxKnown)
  }

  return {
    describeRequest (attributes) {
      const span = guard(() => trace.getSpan(context.active()))
      for (const [name, value] of Object.entries(attributes)) if (value) guard(() => span?.setAttribute(name, value))
    },
    async emit ({ tenantSlug, type }, run) {
      const attributes = { 'recruiting.tenant': tenantSlug, 'recruiting.event_type': type }
      const span = guard(() => tracer.startSpan(`emit ${type}`, { kind: SpanKind.PRODUCER, attributes }, context.active()))
      if (span === undefined) return run()
      return runWithin(span, run).then((result) => {
        guard(() => span.setAttribute('recruiting.event_id', result.id))
        guard(() => remember(result.id, span))
        guard(() => span.end())
        return result
      }, (error: unknown) => {
        setError(span)
        guard(() => span.end())
        throw error
      })
    },
    attempt ({ tenantSlug, eventId, eventType, webhookId, deliveryId, attemptCount }, { outcome, durationMs, responseStatus, error }) {
      const span = guard(() => tracer.startSpan(`deliver ${eventType}`, {
        kind: SpanKind.CLIENT,
        startTime: Date.now() - durationMs,
        attributes: {
          'recruiting.tenant': tenantSlug,
          'recruiting.event_id': eventId,
          'recruiting.event_type': eventType,
          'recruiting.webhook_id': webhookId,
          'recruiting.delivery_id': deliveryId,
          'recruiting.attempt': attemptCount + 1,
          'recruiting.outcome': outcome,
          ...(responseStatus === null ? {} : { 'http.response.status_code': responseStatus })
        }
      }, emits.get(eventId) ?? context.active()))
      if (span === undefined) return
      if (error !== null) setError(span, error)
      guard(() => span.end())
    }
  }
}

import { callHost } from './call-host.js'
import type { AttemptResult, ClaimedDelivery } from '../ports/index.js'
import type { Logger } from './logger.js'
import { trimEntries } from '../shared/trim-entries.js'

/** OpenTelemetry's context, which holds the active span. */
export interface TraceContext {
  getValue (key: symbol): unknown
  setValue (key: symbol, value: unknown): TraceContext
  deleteValue (key: symbol): TraceContext
}

/** The methods of a span that this package calls. */
export interface TraceSpan {
  setAttribute (name: string, value: string | number): unknown
  setStatus (status: { code: number, message?: string }): unknown
  end (): void
}

/** The methods of a tracer that this package calls. */
export interface Tracer {
  startSpan (name: string, options: { kind: number, startTime?: number, attributes: Record<string, string | number> }, context: TraceContext): TraceSpan
}

/**
 * The parts of `@opentelemetry/api` that this package uses. `import * as opentelemetry from '@opentelemetry/api'` fits.
 */
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

/** Creates spans of emits and attempts, and sets attributes of requests. */
export interface Tracing {
  /** Sets attributes on the active span, if any: the request span that an instrumentation created. */
  describeRequest (attributes: Record<string, string | null | undefined>): void
  /** Runs an emit in a span of its own, a child of the active span. */
  emit<T extends { id: string }> (event: { tenantSlug: string, type: string }, run: () => Promise<T>): Promise<T>
  /** Records the span of an ended attempt, as a child of its emit if this process emitted it. */
  attempt (delivery: ClaimedDelivery, result: AttemptResult): void
}

/** Number of recent events whose spans are remembered. */
const maxKnown = 10_000

/**
 * Creates spans with a tracer named after this package. Errors of OpenTelemetry are logged, and the emit or attempt
 * continues without its span.
 */
export function createTracing ({ trace, context, SpanKind, SpanStatusCode }: OpenTelemetryApi, log: Logger): Tracing {
  const tracer = trace.getTracer('fastify-recruiting-api')
  // The ports store no trace context, so attempts of events from another process have no parent span.
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

  /** Calls `run` once, inside the span if OpenTelemetry allows it. */
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
